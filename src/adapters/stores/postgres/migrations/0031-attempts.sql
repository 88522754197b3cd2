-- As in 0012; adds the tokens to those of earlier attempts.
CREATE OR REPLACE FUNCTION end_turn(
  p_session text, p_turn text, p_owner text, p_attempt integer,
  p_outcome text, p_error text, p_rig text, p_input_tokens bigint, p_output_tokens bigint, p_shown_tokens bigint, p_uses json,
  p_messages json, p_events text[], p_notices text[], p_next_owner text, p_lease_ms bigint, p_at bigint
) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
  s sessions;
  t turns;
  head bigint;
  claimed json;
BEGIN
  SELECT * INTO s FROM sessions WHERE id = p_session AND deleted_at IS NULL FOR UPDATE;
  UPDATE turns SET
    status = p_outcome, ended_at = p_at, error = p_error, rig = p_rig, input_tokens = input_tokens + p_input_tokens,
    output_tokens = output_tokens + p_output_tokens, shown_tokens = shown_tokens + p_shown_tokens, owner = NULL,
    lease_until = '-infinity', partial_text = ''
  WHERE id = p_turn AND session = s.ref AND status = 'running' AND owner = p_owner AND attempt = p_attempt
  RETURNING * INTO t;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  s := with_messages(s, t, p_messages);
  IF p_uses IS NOT NULL THEN
    PERFORM add_uses(p_uses);
  END IF;
  IF p_error IS NOT NULL THEN
    s.last_system_no := s.last_system_no + 1;
    INSERT INTO system_events (session, n, at, kind, text) VALUES (s.ref, s.last_system_no, p_at, 'SystemError', p_error);
  END IF;
  head := (SELECT ref FROM turns WHERE session = s.ref AND status = 'queued' ORDER BY no LIMIT 1);
  s.interrupted := p_outcome = 'interrupted' AND head IS NULL;
  s.active_at := greatest(s.active_at, p_at);
  s := commit_session(s, p_events, p_notices, p_at);
  IF head IS NOT NULL AND p_next_owner IS NOT NULL THEN
    claimed := claim_turn(head, p_next_owner, p_lease_ms, 0);
  END IF;
  RETURN json_build_object('revision', s.revision, 'last_event_id', s.last_event_id, 'next', claimed);
END
$$;

-- Counts what attempts have used, except those that have ended their turns. Locks sessions, turns and uses in the order
-- of end_turn.
CREATE FUNCTION count_attempts(p_attempts json) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM turns t JOIN sessions s ON s.ref = t.session
  WHERE t.id = ANY (ARRAY(SELECT a.turn FROM json_to_recordset(p_attempts) AS a (turn text)))
  ORDER BY t.session FOR UPDATE OF s, t;
  PERFORM add_uses((
    SELECT json_agg(u.use)
    FROM json_to_recordset(p_attempts) AS a (turn text, attempt integer, uses json)
    CROSS JOIN json_array_elements(a.uses) AS u (use)
    WHERE NOT EXISTS (
      SELECT FROM turns t WHERE t.id = a.turn AND t.attempt = a.attempt AND t.status NOT IN ('queued', 'running'))));
  UPDATE turns t SET
    input_tokens = t.input_tokens + used.input_tokens, output_tokens = t.output_tokens + used.output_tokens,
    shown_tokens = t.shown_tokens + used.shown_tokens
  FROM (
    SELECT t.ref, sum(a.input_tokens) AS input_tokens, sum(a.output_tokens) AS output_tokens,
      sum(a.shown_tokens) AS shown_tokens
    FROM json_to_recordset(p_attempts) AS a (
      turn text, attempt integer, input_tokens bigint, output_tokens bigint, shown_tokens bigint)
    JOIN turns t ON t.id = a.turn
    WHERE t.attempt <> a.attempt OR t.status IN ('queued', 'running')
    GROUP BY t.ref) AS used
  WHERE t.ref = used.ref;
END
$$;
