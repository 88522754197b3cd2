-- As in 0009, but a text of NULL keeps the stored text and its attempt.
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
  UPDATE turns SET partial_text = coalesce(p_partial_text, partial_text),
    partial_attempt = CASE WHEN p_partial_text IS NULL THEN partial_attempt ELSE p_attempt END
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
