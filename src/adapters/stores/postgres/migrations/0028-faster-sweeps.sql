-- As in 0016, but removes the rows of many deleted sessions, at most p_limit rows in total: one commit serves all of them.
-- Returns false when there was nothing to remove.
CREATE OR REPLACE FUNCTION sweep_buried(p_limit integer) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  dead bigint;
  removed integer;
  rest integer := p_limit;
BEGIN
  FOR dead IN SELECT session FROM buried ORDER BY session LIMIT 100 FOR UPDATE SKIP LOCKED LOOP
    DELETE FROM messages WHERE ctid = ANY (ARRAY(SELECT ctid FROM messages WHERE session = dead LIMIT rest));
    GET DIAGNOSTICS removed = ROW_COUNT;
    rest := rest - removed;
    DELETE FROM events WHERE ctid = ANY (ARRAY(SELECT ctid FROM events WHERE session = dead LIMIT rest));
    GET DIAGNOSTICS removed = ROW_COUNT;
    rest := rest - removed;
    DELETE FROM turns WHERE ctid = ANY (ARRAY(SELECT ctid FROM turns WHERE session = dead LIMIT rest));
    GET DIAGNOSTICS removed = ROW_COUNT;
    rest := rest - removed;
    DELETE FROM system_events WHERE ctid = ANY (ARRAY(SELECT ctid FROM system_events WHERE session = dead LIMIT rest));
    GET DIAGNOSTICS removed = ROW_COUNT;
    rest := rest - removed;
    DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(SELECT ctid FROM idempotency_keys WHERE session = dead LIMIT rest));
    GET DIAGNOSTICS removed = ROW_COUNT;
    rest := rest - removed;
    DELETE FROM wallet_requests WHERE ctid = ANY (ARRAY(SELECT ctid FROM wallet_requests WHERE session = dead LIMIT rest));
    GET DIAGNOSTICS removed = ROW_COUNT;
    rest := rest - removed;
    -- This session may have more rows.
    EXIT WHEN rest = 0;
    DELETE FROM buried WHERE session = dead;
  END LOOP;
  RETURN FOUND;
END
$$;
