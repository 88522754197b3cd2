-- Repeats save_progress after a call whose result is unknown. If an event after p_after equals the first one, that call
-- was stored, and nothing is written.
CREATE FUNCTION repeat_progress(
  p_session text, p_turn text, p_owner text, p_attempt integer,
  p_messages json, p_events text[], p_notices text[], p_partial_text text, p_at bigint, p_partial_since bigint, p_after bigint
) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
  s sessions;
  logged bigint;
BEGIN
  SELECT * INTO s FROM sessions WHERE id = p_session AND deleted_at IS NULL FOR UPDATE;
  IF EXISTS (SELECT FROM turns WHERE id = p_turn AND session = s.ref AND status = 'running' AND owner = p_owner
      AND attempt = p_attempt) THEN
    SELECT id INTO logged FROM events WHERE session = s.ref AND id > p_after AND body::text = p_events[1] ORDER BY id LIMIT 1;
  END IF;
  IF logged IS NOT NULL THEN
    RETURN json_build_object('revision', s.revision, 'last_event_id', logged + cardinality(p_events) - 1);
  END IF;
  RETURN save_progress(p_session, p_turn, p_owner, p_attempt, p_messages, p_events, p_notices, p_partial_text, p_at,
    p_partial_since);
END
$$;
