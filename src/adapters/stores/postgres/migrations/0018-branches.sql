-- Creates a session with copies of a session's ended turns and of their records, up to the record p_before (NULL: all).
-- Locks the source, so that it is not deleted in between.
CREATE FUNCTION branch_session(
  p_source text, p_if_version bigint, p_before text, p_id text, p_title text, p_fields json, p_state text,
  p_key text, p_fingerprint text, p_not_before bigint, p_max_bytes bigint, p_at bigint
) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
  s sessions;
  b sessions;
  used idempotency_keys;
  end_no bigint := 9223372036854775807;
  end_position integer := 0;
  end_status text := 'complete';
  bytes bigint;
BEGIN
  SELECT * INTO s FROM sessions WHERE id = p_source AND deleted_at IS NULL FOR UPDATE;
  IF NOT FOUND THEN
    RETURN json_build_object('kind', 'missing');
  END IF;
  IF p_key IS NOT NULL THEN
    SELECT * INTO used FROM idempotency_keys WHERE session = s.ref AND key = p_key;
    IF FOUND AND used.created_at >= p_not_before THEN
      IF used.fingerprint = p_fingerprint THEN
        RETURN json_build_object('kind', 'repeated', 'session_id', used.turn_id);
      END IF;
      RETURN json_build_object('kind', 'key_reused');
    END IF;
  END IF;
  IF p_if_version <> s.version THEN
    RETURN json_build_object('kind', 'stale');
  END IF;
  IF p_before IS NOT NULL THEN
    SELECT m.turn_no, m.position, t.status INTO end_no, end_position, end_status
    FROM messages m JOIN turns t ON t.session = m.session AND t.no = m.turn_no
    WHERE m.id = p_before AND m.session = s.ref;
    IF NOT FOUND THEN
      RETURN json_build_object('kind', 'unknown_message');
    ELSIF end_status IN ('queued', 'running') THEN
      RETURN json_build_object('kind', 'open_turn');
    END IF;
  END IF;
  bytes := (
    SELECT coalesce(sum(message_bytes(m)), 0) FROM messages m JOIN turns t ON t.session = m.session AND t.no = m.turn_no
    WHERE m.session = s.ref AND (m.turn_no, m.position) < (end_no, end_position) AND t.status NOT IN ('queued', 'running'));
  IF bytes > p_max_bytes THEN
    RETURN json_build_object('kind', 'full', 'bytes', bytes);
  END IF;

  SELECT * INTO STRICT b FROM make_session(p_id, p_title, p_at);
  b := with_fields(b, p_fields, p_state);
  b.version := 1;
  INSERT INTO turns
    (id, session, no, app, status, rig, input_tokens, output_tokens, shown_tokens, created_at, ended_at, error)
  SELECT
    gen_random_uuid(), b.ref, t.no, t.app, t.status, t.rig, t.input_tokens, t.output_tokens, t.shown_tokens, t.created_at,
    t.ended_at, t.error
  FROM turns t
  WHERE t.session = s.ref AND (t.no, 0) < (end_no, end_position) AND t.status NOT IN ('queued', 'running');
  INSERT INTO messages
    (id, session, turn_no, turn_id, position, role, content, tool_calls, tool_results, created_at, origin)
  SELECT
    gen_random_uuid(), b.ref, m.turn_no, t.id, m.position, m.role, m.content, m.tool_calls, m.tool_results, m.created_at,
    m.origin
  FROM messages m JOIN turns t ON t.session = b.ref AND t.no = m.turn_no
  WHERE m.session = s.ref AND (m.turn_no, m.position) < (end_no, end_position);
  SELECT coalesce(sum(message_shown(m)), 0), coalesce(max(m.turn_no), 0) INTO b.shown_messages, b.last_turn_no
  FROM messages m WHERE m.session = b.ref;
  b.text_bytes := bytes;
  b.interrupted := coalesce(
    (SELECT t.status = 'interrupted' FROM turns t WHERE t.session = b.ref ORDER BY t.no DESC LIMIT 1), false);
  b := commit_session(b, '{}', '{}', p_at);
  IF p_key IS NOT NULL THEN
    INSERT INTO idempotency_keys (session, key, fingerprint, turn_id, created_at)
    VALUES (s.ref, p_key, p_fingerprint, p_id, p_at)
    ON CONFLICT (session, key) DO UPDATE SET
      fingerprint = EXCLUDED.fingerprint, turn_id = EXCLUDED.turn_id, created_at = EXCLUDED.created_at;
  END IF;
  RETURN json_build_object('kind', 'branched', 'session', row_to_json(b), 'bytes', bytes);
END
$$;
