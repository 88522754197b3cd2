CREATE FUNCTION take_over(p_turn text, p_owner text, p_lease_ms bigint) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
  s sessions;
  t turns;
BEGIN
  SELECT * INTO s FROM sessions WHERE ref = (SELECT session FROM turns WHERE id = p_turn) FOR UPDATE;
  SELECT * INTO t FROM turns WHERE id = p_turn AND session = s.ref AND status = 'running';
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  RETURN json_build_object('session_id', s.id, 'turn', claim_turn(t.ref, p_owner, p_lease_ms, 0));
END
$$;

-- Claims turns, at most one per session: released ones, ones whose lease has ended, and queued ones.
-- Skips locked sessions: another node is claiming them, or the next call finds them.
-- Materialized: otherwise the planner scans all turns, ended ones included, in the order of ref.
CREATE FUNCTION claim_abandoned(p_owner text, p_lease_ms bigint, p_limit integer) RETURNS SETOF json
LANGUAGE plpgsql AS $$
DECLARE
  asked timestamptz := clock_timestamp();
  s record;
  t turns;
  left_over integer := p_limit;
BEGIN
  FOR s IN
    WITH lost AS MATERIALIZED (
      SELECT ref, session FROM turns WHERE status = 'running' AND (owner IS NULL OR lease_until <= asked)
    )
    SELECT l.ref, l.id FROM lost JOIN sessions l ON l.ref = lost.session
    ORDER BY lost.ref LIMIT p_limit FOR UPDATE OF l SKIP LOCKED
  LOOP
    -- Reads the turn again under the lock: it may have been renewed, ended or claimed since.
    SELECT * INTO t FROM turns
    WHERE session = s.ref AND status = 'running' AND (owner IS NULL OR lease_until <= asked) FOR UPDATE SKIP LOCKED;
    IF FOUND THEN
      left_over := left_over - 1;
      RETURN NEXT json_build_object(
        'session_id', s.id,
        'turn', claim_turn(t.ref, p_owner, p_lease_ms, CASE WHEN t.owner IS NULL THEN 0 ELSE 1 END));
    END IF;
  END LOOP;
  FOR s IN
    WITH waiting AS MATERIALIZED (
      SELECT q.ref, q.session FROM turns q
      WHERE q.status = 'queued'
        AND NOT EXISTS (SELECT FROM turns r WHERE r.session = q.session AND r.status = 'running')
        AND NOT EXISTS (SELECT FROM turns f WHERE f.session = q.session AND f.status = 'queued' AND f.no < q.no)
    )
    SELECT l.ref, l.id FROM waiting JOIN sessions l ON l.ref = waiting.session
    ORDER BY waiting.ref LIMIT left_over FOR UPDATE OF l SKIP LOCKED
  LOOP
    SELECT * INTO t FROM turns WHERE session = s.ref AND status IN ('queued', 'running')
    ORDER BY status = 'running' DESC, no LIMIT 1;
    IF FOUND AND t.status = 'queued' THEN
      RETURN NEXT json_build_object('session_id', s.id, 'turn', claim_turn(t.ref, p_owner, p_lease_ms, 0));
    END IF;
  END LOOP;
END
$$;
