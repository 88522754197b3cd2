-- Identifies one grant of a lease: a claim raises the attempt, a renewal moves the end.
CREATE FUNCTION lease_mark(p_attempt integer, p_until timestamptz) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT p_attempt || ':' || extract(epoch FROM p_until)
$$;

-- Claims turns, at most one per session: released ones, ones whose lease the caller has found lost, and queued ones.
-- Skips locked sessions: another node is claiming them, or the next call finds them.
-- Replaces claim_abandoned, which compares the ends of leases with the database's clock and stays for nodes of the
-- previous version.
-- Materialized: otherwise the planner scans all turns, ended ones included, in the order of ref.
CREATE FUNCTION claim_free_turns(
  p_owner text, p_lease_ms bigint, p_limit integer, p_lost_ids text[], p_lost_marks text[]
) RETURNS SETOF json
LANGUAGE plpgsql AS $$
DECLARE
  s record;
  t turns;
  left_over integer := p_limit;
BEGIN
  FOR s IN
    WITH free AS MATERIALIZED (
      SELECT f.ref, f.session FROM unnest(p_lost_ids, p_lost_marks) AS l (id, mark) JOIN turns f ON f.id = l.id
      WHERE f.status = 'running' AND f.owner IS NOT NULL AND lease_mark(f.attempt, f.lease_until) = l.mark
      UNION ALL
      SELECT ref, session FROM turns WHERE status = 'running' AND owner IS NULL
    )
    SELECT l.ref, l.id FROM free JOIN sessions l ON l.ref = free.session
    ORDER BY free.ref LIMIT p_limit FOR UPDATE OF l SKIP LOCKED
  LOOP
    -- Reads the turn again under the lock: it may have been renewed, ended or claimed since.
    SELECT * INTO t FROM turns c
    WHERE c.session = s.ref AND c.status = 'running' AND (
      c.owner IS NULL
      OR EXISTS (
        SELECT FROM unnest(p_lost_ids, p_lost_marks) AS l (id, mark)
        WHERE l.id = c.id AND l.mark = lease_mark(c.attempt, c.lease_until)
      )
    ) FOR UPDATE SKIP LOCKED;
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

-- Claims the errors above faults_shown for a node. Replaces claim_faults.
-- p_lost: another node's claim that the caller has found lost, or NULL.
-- held, in the result: another node's claim that is still valid, or null.
CREATE FUNCTION claim_unshown_faults(p_id text, p_owner text, p_claim_ms bigint, p_lost text) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
  s sessions;
  faults json;
  held text;
BEGIN
  SELECT * INTO s FROM sessions WHERE id = p_id AND deleted_at IS NULL FOR UPDATE;
  IF NOT FOUND THEN
    RETURN json_build_object('shown', 0, 'faults', '[]'::json, 'held', NULL);
  END IF;
  IF s.faults_claimed_by <> p_owner AND s.faults_claimed_until > clock_timestamp() THEN
    held := s.faults_claimed_by || ':' || extract(epoch FROM s.faults_claimed_until);
  END IF;
  IF held IS NOT NULL AND held IS DISTINCT FROM p_lost THEN
    RETURN json_build_object('shown', s.faults_shown, 'faults', '[]'::json, 'held', held);
  END IF;
  SELECT json_agg(json_build_object('n', e.n, 'text', e.text) ORDER BY e.n) INTO faults
  FROM system_events e WHERE e.session = s.ref AND e.n > s.faults_shown AND e.kind = 'SystemError';
  IF faults IS NOT NULL THEN
    UPDATE sessions SET
      faults_claimed_by = p_owner, faults_claimed_until = clock_timestamp() + p_claim_ms * interval '1 millisecond'
    WHERE ref = s.ref;
  END IF;
  RETURN json_build_object('shown', s.faults_shown, 'faults', coalesce(faults, '[]'::json), 'held', NULL);
END
$$;
