-- As in 0021; finds each replaced record by its id. While `messages` is empty, PostgreSQL plans a join of both as a
-- scan of all messages, and each connection keeps that plan until the table is analyzed.
CREATE OR REPLACE FUNCTION with_messages(s sessions, t turns, p_messages json) RETURNS sessions
LANGUAGE plpgsql AS $$
DECLARE
  stored integer;
  bytes bigint;
  shown bigint;
BEGIN
  IF json_array_length(p_messages) = 0 THEN
    RETURN s;
  END IF;
  WITH given AS MATERIALIZED (
    SELECT * FROM json_to_recordset(p_messages) AS r (
      id text, position integer, role text, content text, tool_calls text, tool_results text, created_at bigint, origin text)
  ), replaced AS MATERIALIZED (
    SELECT coalesce(sum(message_bytes(r.m)) FILTER (WHERE (r.m).session = s.ref), 0) AS bytes,
      coalesce(sum(message_shown(r.m)) FILTER (WHERE (r.m).session = s.ref), 0) AS shown
    FROM given CROSS JOIN LATERAL (SELECT m FROM messages m WHERE m.id = given.id OFFSET 0) AS r
  ), put AS (
    INSERT INTO messages AS m
      (id, session, turn_no, turn_id, position, role, content, tool_calls, tool_results, created_at, origin)
    SELECT g.id, t.session, t.no, t.id, g.position, g.role, g.content, g.tool_calls::json, g.tool_results::json,
      g.created_at, g.origin
    FROM given g
    ON CONFLICT (id) DO UPDATE SET
      position = EXCLUDED.position, role = EXCLUDED.role, content = EXCLUDED.content, tool_calls = EXCLUDED.tool_calls,
      tool_results = EXCLUDED.tool_results, created_at = EXCLUDED.created_at, origin = EXCLUDED.origin
    WHERE m.session = EXCLUDED.session AND m.turn_no = EXCLUDED.turn_no
    RETURNING message_bytes(m) AS bytes, message_shown(m) AS shown
  )
  SELECT count(*), coalesce(sum(put.bytes), 0) - max(replaced.bytes), coalesce(sum(put.shown), 0) - max(replaced.shown)
  INTO stored, bytes, shown FROM put CROSS JOIN replaced;
  IF stored < json_array_length(p_messages) THEN
    RAISE EXCEPTION 'a record belongs to another turn' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  s.text_bytes := s.text_bytes + bytes;
  s.shown_messages := s.shown_messages + shown;
  RETURN s;
END
$$;
