-- Every write to a session is one function call that locks the session's row first: one round trip, one transaction,
-- and a total order of revisions and event ids. JSON values to store are passed as text inside JSON, so that the
-- functions never parse their content.

-- Creates an empty session, reusing the tombstone if there is one. Returns no row when the session is live.
CREATE FUNCTION make_session(p_id text, p_title text, p_at bigint) RETURNS SETOF sessions
LANGUAGE sql AS $$
  INSERT INTO sessions (id, title, title_source, created_at, active_at)
  VALUES (p_id, p_title, 'placeholder', p_at, p_at)
  ON CONFLICT (id) DO UPDATE SET
    title = EXCLUDED.title, title_source = EXCLUDED.title_source, wallet = NULL, rig = NULL, client = NULL,
    app = NULL, user_state = NULL, interrupted = false, created_at = EXCLUDED.created_at, active_at = EXCLUDED.active_at,
    last_turn_no = 0, deleted_at = NULL
  WHERE sessions.deleted_at IS NOT NULL
  RETURNING *
$$;

-- Returns the row with fields set, and with a new version if a value changed.
-- p_state: the user state; NULL keeps it, 'null' clears it.
CREATE FUNCTION with_fields(s sessions, p_fields json, p_state text) RETURNS sessions
LANGUAGE plpgsql AS $$
DECLARE
  changed sessions := json_populate_record(s, p_fields);
BEGIN
  IF p_state IS NOT NULL THEN
    changed.user_state := nullif(p_state, 'null')::json;
  END IF;
  IF (changed.title, changed.title_source, changed.wallet, changed.rig, changed.client, changed.app, changed.user_state::text)
    IS DISTINCT FROM (s.title, s.title_source, s.wallet, s.rig, s.client, s.app, s.user_state::text) THEN
    changed.version := s.version + 1;
  END IF;
  RETURN changed;
END
$$;

-- Logs events and saves a session's row with a new revision. Returns the saved row.
CREATE FUNCTION commit_session(s sessions, p_events text[], p_notices text[], p_at bigint) RETURNS sessions
LANGUAGE plpgsql AS $$
BEGIN
  IF cardinality(p_events) > 0 THEN
    INSERT INTO events (session, id, at, body)
    SELECT s.ref, s.last_event_id + e.n, p_at, e.body::json
    FROM unnest(p_events) WITH ORDINALITY AS e (body, n);
    s.last_event_id := s.last_event_id + cardinality(p_events);
  END IF;
  IF cardinality(p_notices) > 0 THEN
    INSERT INTO system_events (session, n, at, kind, text)
    SELECT s.ref, s.last_system_no + e.n, p_at, 'SystemNotice', e.text
    FROM unnest(p_notices) WITH ORDINALITY AS e (text, n);
    s.last_system_no := s.last_system_no + cardinality(p_notices);
  END IF;
  s.revision := s.revision + 1;
  UPDATE sessions SET
    title = s.title, title_source = s.title_source, wallet = s.wallet, rig = s.rig, client = s.client,
    app = s.app, user_state = s.user_state, interrupted = s.interrupted, active_at = s.active_at, revision = s.revision,
    version = s.version, last_event_id = s.last_event_id, last_turn_no = s.last_turn_no,
    last_system_no = s.last_system_no
  WHERE ref = s.ref;
  RETURN s;
END
$$;

CREATE FUNCTION save_session(
  p_id text, p_create boolean, p_if_version bigint, p_title text, p_fields json, p_state text,
  p_events text[], p_notices text[], p_is_activity boolean, p_at bigint
) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
  s sessions;
  changed sessions;
  live boolean;
  moved boolean;
BEGIN
  LOOP
    SELECT * INTO s FROM sessions WHERE id = p_id FOR UPDATE;
    live := FOUND AND s.deleted_at IS NULL;
    IF NOT live AND NOT p_create THEN
      RETURN json_build_object('kind', 'missing');
    END IF;
    IF p_if_version <> (CASE WHEN live THEN s.version ELSE 0 END) THEN
      RETURN json_build_object('kind', 'stale');
    END IF;
    EXIT WHEN live;
    SELECT * INTO s FROM make_session(p_id, p_title, p_at);
    -- Not found: a concurrent transaction has just created it.
    EXIT WHEN FOUND;
  END LOOP;
  changed := with_fields(s, p_fields, p_state);
  IF NOT live THEN
    changed.version := s.version + 1;
  END IF;
  moved := p_is_activity AND p_at > s.active_at;
  IF moved THEN
    changed.active_at := p_at;
  END IF;
  IF moved OR changed.version > s.version OR cardinality(p_events) > 0 THEN
    changed := commit_session(changed, p_events, p_notices, p_at);
  END IF;
  RETURN json_build_object('kind', 'saved', 'created', NOT live, 'session', row_to_json(changed));
END
$$;

CREATE FUNCTION append_events(p_id text, p_events text[], p_notices text[], p_at bigint) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
  s sessions;
BEGIN
  SELECT * INTO s FROM sessions WHERE id = p_id AND deleted_at IS NULL FOR UPDATE;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  IF cardinality(p_events) > 0 THEN
    s := commit_session(s, p_events, p_notices, p_at);
  END IF;
  RETURN json_build_object('revision', s.revision, 'last_event_id', s.last_event_id);
END
$$;

-- Turns a locked session into a tombstone, and queues its rows for removal.
CREATE FUNCTION bury(s sessions, p_at bigint) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO buried (session) VALUES (s.ref);
  UPDATE sessions SET
    ref = nextval('session_refs'), title = '', wallet = NULL, rig = NULL, client = NULL, app = NULL,
    user_state = NULL, deleted_at = p_at
  WHERE ref = s.ref
$$;

-- Returns the ref that the session had; NULL when it does not exist.
CREATE FUNCTION delete_session(p_id text, p_at bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  s sessions;
BEGIN
  SELECT * INTO s FROM sessions WHERE id = p_id AND deleted_at IS NULL FOR UPDATE;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  PERFORM bury(s, p_at);
  RETURN s.ref;
END
$$;
