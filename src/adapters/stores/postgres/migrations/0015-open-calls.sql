-- Tool calls outside turns that have started and not ended, with their leases. A deleted session gets a new ref: its
-- calls then have no session, and the next close_call removes them.
CREATE TABLE open_calls (
  call_id text PRIMARY KEY,
  session bigint NOT NULL,
  tool_name text NOT NULL,
  owner text NOT NULL,
  lease_until timestamptz NOT NULL
);

-- Identifies one grant of the lease on a call: a renewal moves the end.
CREATE FUNCTION call_mark(p_owner text, p_until timestamptz) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT p_owner || ':' || extract(epoch FROM p_until)
$$;

CREATE FUNCTION open_call(
  p_id text, p_call text, p_tool text, p_owner text, p_lease_ms bigint, p_events text[], p_notices text[], p_at bigint
) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
  logged json := append_events(p_id, p_events, p_notices, p_at);
BEGIN
  IF logged IS NOT NULL THEN
    INSERT INTO open_calls (call_id, session, tool_name, owner, lease_until)
    SELECT p_call, ref, p_tool, p_owner, clock_timestamp() + p_lease_ms * interval '1 millisecond'
    FROM sessions WHERE id = p_id;
  END IF;
  RETURN logged;
END
$$;

-- Locks the session first, as every write does.
CREATE FUNCTION close_call(
  p_call text, p_owner text, p_mark text, p_events text[], p_notices text[], p_at bigint
) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
  session_id text;
BEGIN
  SELECT s.id INTO session_id FROM open_calls c JOIN sessions s ON s.ref = c.session
  WHERE c.call_id = p_call FOR UPDATE OF s;
  DELETE FROM open_calls
  WHERE call_id = p_call AND (owner = p_owner OR call_mark(owner, lease_until) = p_mark);
  IF NOT FOUND OR session_id IS NULL THEN
    RETURN NULL;
  END IF;
  RETURN json_build_object('session_id', session_id, 'counters', append_events(session_id, p_events, p_notices, p_at));
END
$$;

-- Logs an event of a call if p_owner still owns it.
CREATE FUNCTION log_call(
  p_call text, p_owner text, p_events text[], p_notices text[], p_at bigint
) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
  session_id text;
BEGIN
  SELECT s.id INTO session_id FROM open_calls c JOIN sessions s ON s.ref = c.session
  WHERE c.call_id = p_call AND c.owner = p_owner FOR UPDATE OF s;
  -- Checks again under the lock: another node may have ended the call since.
  IF NOT FOUND OR NOT EXISTS (SELECT FROM open_calls WHERE call_id = p_call AND owner = p_owner) THEN
    RETURN NULL;
  END IF;
  RETURN append_events(session_id, p_events, p_notices, p_at);
END
$$;
