-- As in 0016; a turn that a wallet's report starts gets the key of the last turn in its App that has one.
CREATE OR REPLACE FUNCTION insert_turn(
  s sessions, p_turn text, p_message text, p_text text, p_origin text, p_app text, p_client text, p_status text, p_at bigint
) RETURNS turns
LANGUAGE plpgsql AS $$
DECLARE
  t turns;
BEGIN
  INSERT INTO turns (id, session, no, app, client_id, key_id, status, created_at, ended_at)
  VALUES (
    p_turn, s.ref, s.last_turn_no, p_app, p_client,
    CASE WHEN p_status = 'queued' THEN (
      SELECT key_id FROM turns WHERE session = s.ref AND app = p_app AND key_id IS NOT NULL ORDER BY no DESC LIMIT 1) END,
    p_status, p_at, CASE WHEN p_status = 'complete' THEN p_at END)
  RETURNING * INTO t;
  INSERT INTO messages (id, session, turn_no, turn_id, position, role, content, created_at, origin)
  VALUES (p_message, s.ref, t.no, t.id, 0, 'system', p_text, p_at, p_origin);
  RETURN t;
END
$$;
