-- Each function removes a bounded batch, so that other writes do not wait long. Several nodes may prune concurrently.

-- Removes rows of a deleted session. Returns false when there was nothing to remove.
CREATE FUNCTION sweep_buried(p_limit integer) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  dead bigint;
  removed integer;
  gone integer := 0;
BEGIN
  SELECT session INTO dead FROM buried ORDER BY session LIMIT 1 FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  DELETE FROM messages WHERE ctid = ANY (ARRAY(SELECT ctid FROM messages WHERE session = dead LIMIT p_limit));
  GET DIAGNOSTICS removed = ROW_COUNT;
  gone := greatest(gone, removed);
  DELETE FROM events WHERE ctid = ANY (ARRAY(SELECT ctid FROM events WHERE session = dead LIMIT p_limit));
  GET DIAGNOSTICS removed = ROW_COUNT;
  gone := greatest(gone, removed);
  DELETE FROM turns WHERE ctid = ANY (ARRAY(SELECT ctid FROM turns WHERE session = dead LIMIT p_limit));
  GET DIAGNOSTICS removed = ROW_COUNT;
  gone := greatest(gone, removed);
  DELETE FROM system_events WHERE ctid = ANY (ARRAY(SELECT ctid FROM system_events WHERE session = dead LIMIT p_limit));
  GET DIAGNOSTICS removed = ROW_COUNT;
  gone := greatest(gone, removed);
  DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(SELECT ctid FROM idempotency_keys WHERE session = dead LIMIT p_limit));
  GET DIAGNOSTICS removed = ROW_COUNT;
  gone := greatest(gone, removed);
  IF gone < p_limit THEN
    DELETE FROM buried WHERE session = dead;
  END IF;
  RETURN true;
END
$$;

-- Deletes threads that have no activity since p_before and no open turn. Returns their ids.
CREATE FUNCTION prune_threads(p_before bigint, p_at bigint, p_limit integer) RETURNS SETOF text
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
    CONTINUE WHEN EXISTS (SELECT FROM turns WHERE session = s.ref AND status IN ('queued', 'running'));
    PERFORM bury(s, p_at);
    RETURN NEXT s.id;
  END LOOP;
END
$$;

-- Removes old events of the next session after the ref p_after that has any.
-- pruned: the session's ref; NULL when there is none. done: true when the session has no more old events.
CREATE FUNCTION prune_events(p_after bigint, p_kept bigint, p_since bigint, p_limit integer, OUT pruned bigint, OUT done boolean)
LANGUAGE plpgsql AS $$
DECLARE
  s sessions;
  removed integer;
BEGIN
  SELECT * INTO s FROM sessions AS full_log
  WHERE ref > p_after AND (
    last_event_id > p_kept AND EXISTS (
      SELECT FROM events e WHERE e.session = full_log.ref AND e.id <= full_log.last_event_id - p_kept AND e.at < p_since)
    OR last_system_no > p_kept AND EXISTS (
      SELECT FROM system_events e WHERE e.session = full_log.ref AND e.n <= full_log.last_system_no - p_kept
        AND e.at < p_since AND (e.kind <> 'SystemError' OR e.n <= full_log.faults_shown)))
  ORDER BY ref LIMIT 1;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  pruned := s.ref;
  DELETE FROM events WHERE ctid = ANY (ARRAY(
    SELECT e.ctid FROM events e
    WHERE e.session = s.ref AND e.id <= s.last_event_id - p_kept AND e.at < p_since ORDER BY e.id LIMIT p_limit));
  GET DIAGNOSTICS removed = ROW_COUNT;
  done := removed < p_limit;
  DELETE FROM system_events WHERE ctid = ANY (ARRAY(
    SELECT e.ctid FROM system_events e
    WHERE e.session = s.ref AND e.n <= s.last_system_no - p_kept AND e.at < p_since
      AND (e.kind <> 'SystemError' OR e.n <= s.faults_shown) ORDER BY e.n LIMIT p_limit));
  GET DIAGNOSTICS removed = ROW_COUNT;
  done := done AND removed < p_limit;
END
$$;

-- Removes old idempotency keys. Returns their number.
CREATE FUNCTION prune_keys(p_before bigint, p_limit integer) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  removed integer;
BEGIN
  DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM idempotency_keys WHERE created_at < p_before ORDER BY created_at LIMIT p_limit FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END
$$;

-- Removes the uses of old windows. Returns their number.
CREATE FUNCTION prune_uses(p_before bigint, p_limit integer) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  removed integer;
BEGIN
  DELETE FROM uses WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM uses WHERE window_from < p_before ORDER BY window_from LIMIT p_limit FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END
$$;
