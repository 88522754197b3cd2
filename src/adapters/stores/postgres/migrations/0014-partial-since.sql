-- When the first character of partial_text was shown, in milliseconds since the epoch; 0: unknown.
ALTER TABLE turns ADD COLUMN partial_since bigint NOT NULL DEFAULT 0;

-- As in 0004; also returns partial_since.
CREATE OR REPLACE FUNCTION turn_json(t turns) RETURNS json
LANGUAGE sql STABLE AS $$
  SELECT json_build_object(
    'id', t.id, 'no', t.no, 'app', t.app, 'client_id', t.client_id, 'key_id', t.key_id, 'status', t.status, 'attempt', t.attempt,
    'losses', t.losses, 'owner', t.owner, 'cancel_requested', t.cancel_requested, 'created_at', t.created_at,
    'error', t.error, 'partial_text', t.partial_text, 'partial_since', t.partial_since)
$$;

-- As in 0012; also stores partial_since. Nodes of an earlier version omit this parameter.
DROP FUNCTION save_progress(text, text, text, integer, json, text[], text[], text, bigint);

CREATE FUNCTION save_progress(
  p_session text, p_turn text, p_owner text, p_attempt integer,
  p_messages json, p_events text[], p_notices text[], p_partial_text text, p_at bigint, p_partial_since bigint DEFAULT 0
) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
  s sessions;
  t turns;
BEGIN
  SELECT * INTO s FROM sessions WHERE id = p_session AND deleted_at IS NULL FOR UPDATE;
  UPDATE turns SET partial_text = coalesce(p_partial_text, partial_text),
    partial_attempt = CASE WHEN p_partial_text IS NULL THEN partial_attempt ELSE p_attempt END,
    partial_since = CASE WHEN p_partial_text IS NULL THEN partial_since ELSE p_partial_since END
  WHERE id = p_turn AND session = s.ref AND status = 'running' AND owner = p_owner AND attempt = p_attempt
  RETURNING * INTO t;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  IF json_array_length(p_messages) > 0 OR cardinality(p_events) > 0 THEN
    s := commit_session(with_messages(s, t, p_messages), p_events, p_notices, p_at);
  END IF;
  RETURN json_build_object('revision', s.revision, 'last_event_id', s.last_event_id);
END
$$;
