-- As in 0028; finds turns by their refs. A row that another transaction updates meanwhile (a node that renews its lease)
-- gets another ctid, and was left for ever.
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
    DELETE FROM turns WHERE ref = ANY (ARRAY(SELECT ref FROM turns WHERE session = dead LIMIT rest));
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

DELETE FROM turns t
WHERE t.status IN ('queued', 'running')
  AND NOT EXISTS (SELECT FROM sessions s WHERE s.ref = t.session)
  AND NOT EXISTS (SELECT FROM buried b WHERE b.session = t.session);
