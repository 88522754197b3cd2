-- Sessions whose log has grown since it was last trimmed, so that trimming reads these alone. A session is listed
-- whenever its log has grown by 64 events or 64 system events; the triggers also list what nodes of an earlier version write.
-- oldest_at: the log has nothing to remove that is older; 0: not known yet.
CREATE TABLE long_logs (
  session bigint PRIMARY KEY,
  oldest_at bigint NOT NULL
) WITH (fillfactor = 70);

-- Finds the logs to trim.
CREATE INDEX long_logs_by_age ON long_logs (oldest_at, session);

-- Locks a row that is there: a concurrent trim_log may have read the session before, and be about to delete the row.
CREATE FUNCTION list_long_log() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO long_logs (session, oldest_at) VALUES (NEW.ref, 0)
  ON CONFLICT (session) DO UPDATE SET oldest_at = long_logs.oldest_at;
  RETURN NULL;
END
$$;

CREATE TRIGGER log_grew AFTER UPDATE ON sessions FOR EACH ROW
WHEN (NEW.last_event_id / 64 > OLD.last_event_id / 64 OR NEW.last_system_no / 64 > OLD.last_system_no / 64)
EXECUTE FUNCTION list_long_log();

-- Sessions that are copied from another database have a log from the start.
CREATE TRIGGER log_copied AFTER INSERT ON sessions FOR EACH ROW
WHEN (NEW.last_event_id >= 64 OR NEW.last_system_no >= 64)
EXECUTE FUNCTION list_long_log();

-- Removes a batch of old events of the listed log that is due first. Returns false when none is due.
-- Replaces prune_events, which reads all sessions and stays for nodes of the previous version.
CREATE FUNCTION trim_log(p_kept bigint, p_since bigint, p_limit integer) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  listed bigint;
  s sessions;
  removed integer;
  oldest bigint;
BEGIN
  SELECT session INTO listed FROM long_logs WHERE oldest_at < p_since
  ORDER BY oldest_at, session LIMIT 1 FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  -- A deleted session has another ref.
  SELECT * INTO s FROM sessions WHERE ref = listed;
  IF NOT FOUND THEN
    DELETE FROM long_logs WHERE session = listed;
    RETURN true;
  END IF;
  DELETE FROM events WHERE ctid = ANY (ARRAY(
    SELECT e.ctid FROM events e
    WHERE e.session = s.ref AND e.id <= s.last_event_id - p_kept AND e.at < p_since ORDER BY e.id LIMIT p_limit));
  GET DIAGNOSTICS removed = ROW_COUNT;
  IF removed = p_limit THEN
    RETURN true;
  END IF;
  DELETE FROM system_events WHERE ctid = ANY (ARRAY(
    SELECT e.ctid FROM system_events e
    WHERE e.session = s.ref AND e.n <= s.last_system_no - p_kept AND e.at < p_since
      AND (e.kind = 'SystemNotice' OR e.n <= s.faults_shown) ORDER BY e.n LIMIT p_limit));
  GET DIAGNOSTICS removed = ROW_COUNT;
  IF removed = p_limit THEN
    RETURN true;
  END IF;
  oldest := least(
    (SELECT e.at FROM events e WHERE e.session = s.ref AND e.id <= s.last_event_id - p_kept ORDER BY e.id LIMIT 1),
    (SELECT e.at FROM system_events e WHERE e.session = s.ref AND e.n <= s.last_system_no - p_kept ORDER BY e.n LIMIT 1));
  IF oldest IS NULL THEN
    DELETE FROM long_logs WHERE session = listed;
  ELSE
    -- An error that no snapshot has delivered stays, however old: the next pruning looks at it again.
    UPDATE long_logs SET oldest_at = greatest(oldest, p_since) WHERE session = listed;
  END IF;
  RETURN true;
END
$$;

-- As in 0006, but looks for open turns in their partial indexes alone, not at all turns of the thread.
CREATE OR REPLACE FUNCTION prune_threads(p_before bigint, p_at bigint, p_limit integer) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
  s sessions;
BEGIN
  FOR s IN
    SELECT * FROM sessions AS idle
    WHERE deleted_at IS NULL AND active_at < p_before
      AND NOT EXISTS (SELECT FROM turns WHERE session = idle.ref AND status = 'running')
      AND NOT EXISTS (SELECT FROM turns WHERE session = idle.ref AND status = 'queued')
    ORDER BY active_at, id LIMIT p_limit FOR UPDATE SKIP LOCKED
  LOOP
    -- Checks again under the lock.
    CONTINUE WHEN EXISTS (SELECT FROM turns WHERE session = s.ref AND status = 'running')
      OR EXISTS (SELECT FROM turns WHERE session = s.ref AND status = 'queued');
    PERFORM bury(s, p_at);
    RETURN NEXT s.id;
  END LOOP;
END
$$;

-- As in 0011, but looks for the next turn of a session in the partial indexes alone, not at all turns of the thread.
CREATE OR REPLACE FUNCTION claim_free_turns(
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
    CONTINUE WHEN EXISTS (SELECT FROM turns WHERE session = s.ref AND status = 'running');
    SELECT * INTO t FROM turns WHERE session = s.ref AND status = 'queued' ORDER BY no LIMIT 1;
    IF FOUND THEN
      RETURN NEXT json_build_object('session_id', s.id, 'turn', claim_turn(t.ref, p_owner, p_lease_ms, 0));
    END IF;
  END LOOP;
END
$$;
