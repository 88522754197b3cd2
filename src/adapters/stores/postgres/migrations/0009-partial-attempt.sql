-- The attempt that stored partial_text, so that readers can tell an earlier attempt's text from the current one's.
ALTER TABLE turns ADD COLUMN partial_attempt integer NOT NULL DEFAULT 0;
UPDATE turns SET partial_attempt = attempt WHERE status = 'running';

-- As in 0004; also stores the attempt.
CREATE OR REPLACE FUNCTION save_progress(
  p_session text, p_turn text, p_owner text, p_attempt integer,
  p_messages json, p_events text[], p_notices text[], p_partial_text text, p_at bigint
) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
  s sessions;
  t turns;
BEGIN
  SELECT * INTO s FROM sessions WHERE id = p_session AND deleted_at IS NULL FOR UPDATE;
  UPDATE turns SET partial_text = p_partial_text, partial_attempt = p_attempt
  WHERE id = p_turn AND session = s.ref AND status = 'running' AND owner = p_owner AND attempt = p_attempt
  RETURNING * INTO t;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  IF json_array_length(p_messages) > 0 OR cardinality(p_events) > 0 THEN
    PERFORM put_messages(t, p_messages);
    s := commit_session(s, p_events, p_notices, p_at);
  END IF;
  RETURN json_build_object('revision', s.revision, 'last_event_id', s.last_event_id);
END
$$;
