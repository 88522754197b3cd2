-- Functions that run for every turn, with fewer statements. A function in SQL that writes is parsed and planned at each
-- call, one in PL/pgSQL once for each connection. What they do is unchanged, so that nodes of an earlier version may call
-- them.

-- As in 0004, in PL/pgSQL.
CREATE OR REPLACE FUNCTION claim_turn(p_ref bigint, p_owner text, p_lease_ms bigint, p_losses integer) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
  claimed json;
BEGIN
  UPDATE turns SET
    status = 'running', owner = p_owner, attempt = attempt + 1, losses = losses + p_losses,
    lease_until = clock_timestamp() + p_lease_ms * interval '1 millisecond'
  WHERE ref = p_ref
  RETURNING turn_json(turns) INTO claimed;
  RETURN claimed;
END
$$;

-- As in 0016, in PL/pgSQL.
CREATE OR REPLACE FUNCTION make_session(p_id text, p_title text, p_at bigint) RETURNS SETOF sessions
LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY
  INSERT INTO sessions (id, title, title_source, created_at, active_at)
  VALUES (p_id, p_title, 'placeholder', p_at, p_at)
  ON CONFLICT (id) DO UPDATE SET
    title = EXCLUDED.title, title_source = EXCLUDED.title_source, wallet = NULL, rig = NULL, client = NULL,
    app = NULL, user_state = NULL, interrupted = false, created_at = EXCLUDED.created_at, active_at = EXCLUDED.active_at,
    last_turn_no = 0, text_bytes = 0, shown_messages = 0, archived = false, pending = NULL, deleted_at = NULL
  WHERE sessions.deleted_at IS NOT NULL
  RETURNING *;
END
$$;

-- As in 0012, in one statement.
CREATE OR REPLACE FUNCTION with_messages(s sessions, t turns, p_messages json) RETURNS sessions
LANGUAGE plpgsql AS $$
DECLARE
  stored integer;
  bytes bigint;
  shown bigint;
BEGIN
  IF json_array_length(p_messages) = 0 THEN
    RETURN s;
  END IF;
  WITH given AS MATERIALIZED (
    SELECT * FROM json_to_recordset(p_messages) AS r (
      id text, position integer, role text, content text, tool_calls text, tool_results text, created_at bigint, origin text)
  ), replaced AS MATERIALIZED (
    -- By their ids alone: a condition on the session may make the planner read all of its messages.
    SELECT coalesce(sum(message_bytes(m)) FILTER (WHERE m.session = s.ref), 0) AS bytes,
      coalesce(sum(message_shown(m)) FILTER (WHERE m.session = s.ref), 0) AS shown
    FROM given JOIN messages m ON m.id = given.id
  ), put AS (
    INSERT INTO messages AS m
      (id, session, turn_no, turn_id, position, role, content, tool_calls, tool_results, created_at, origin)
    SELECT g.id, t.session, t.no, t.id, g.position, g.role, g.content, g.tool_calls::json, g.tool_results::json,
      g.created_at, g.origin
    FROM given g
    ON CONFLICT (id) DO UPDATE SET
      position = EXCLUDED.position, role = EXCLUDED.role, content = EXCLUDED.content, tool_calls = EXCLUDED.tool_calls,
      tool_results = EXCLUDED.tool_results, created_at = EXCLUDED.created_at, origin = EXCLUDED.origin
    WHERE m.session = EXCLUDED.session AND m.turn_no = EXCLUDED.turn_no
    RETURNING message_bytes(m) AS bytes, message_shown(m) AS shown
  )
  SELECT count(*), coalesce(sum(put.bytes), 0) - max(replaced.bytes), coalesce(sum(put.shown), 0) - max(replaced.shown)
  INTO stored, bytes, shown FROM put CROSS JOIN replaced;
  IF stored < json_array_length(p_messages) THEN
    RAISE EXCEPTION 'a record belongs to another turn' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  s.text_bytes := s.text_bytes + bytes;
  s.shown_messages := s.shown_messages + shown;
  RETURN s;
END
$$;

-- As in 0012, with a turn that is inserted as it starts.
CREATE OR REPLACE FUNCTION accept_message(
  p_session text, p_if_version bigint, p_title text, p_fields json, p_state text,
  p_turn text, p_message text, p_text text, p_app text, p_client text, p_app_key text,
  p_key text, p_fingerprint text, p_not_before bigint,
  p_busy text, p_max_queued integer, p_quotas json, p_owner text, p_lease_ms bigint, p_at bigint, p_max_bytes bigint DEFAULT NULL
) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
  s sessions;
  changed sessions;
  used idempotency_keys;
  starts boolean;
  turn json;
  cancelled json := '[]';
  running json;
  live boolean;
  queued integer := 0;
  runs boolean := false;
  exhausted integer;
  held bigint;
BEGIN
  LOOP
    SELECT * INTO s FROM sessions WHERE id = p_session FOR UPDATE;
    live := FOUND AND s.deleted_at IS NULL;
    IF live AND p_key IS NOT NULL THEN
      SELECT * INTO used FROM idempotency_keys WHERE session = s.ref AND key = p_key;
      IF FOUND AND used.created_at >= p_not_before THEN
        IF used.fingerprint = p_fingerprint THEN
          RETURN json_build_object('kind', 'repeated', 'turn_id', used.turn_id);
        END IF;
        RETURN json_build_object('kind', 'key_reused');
      END IF;
    END IF;
    IF p_if_version <> (CASE WHEN live THEN s.version ELSE 0 END) THEN
      RETURN json_build_object('kind', 'stale');
    END IF;
    held := CASE WHEN live THEN s.text_bytes ELSE 0 END;
    IF held + octet_length(p_text) > p_max_bytes THEN
      RETURN json_build_object('kind', 'full', 'bytes', held);
    END IF;
    IF live THEN
      SELECT (SELECT count(*) FROM turns WHERE session = s.ref AND status = 'queued'),
        EXISTS (SELECT FROM turns WHERE session = s.ref AND status = 'running')
      INTO queued, runs;
      IF p_busy = 'reject' AND (queued > 0 OR runs) THEN
        RETURN json_build_object('kind', 'busy');
      ELSIF p_busy = 'enqueue' AND (queued > 0 OR runs) AND queued >= p_max_queued THEN
        RETURN json_build_object('kind', 'queue_full');
      END IF;
    END IF;
    IF p_quotas IS NOT NULL THEN
      exhausted := find_exhausted(p_quotas);
      IF exhausted IS NOT NULL THEN
        RETURN json_build_object('kind', 'over_quota', 'quota_no', exhausted);
      END IF;
    END IF;
    EXIT WHEN live;
    SELECT * INTO s FROM make_session(p_session, p_title, p_at);
    -- Not found: a concurrent transaction has just created it.
    EXIT WHEN FOUND;
  END LOOP;

  IF p_quotas IS NOT NULL THEN
    PERFORM count_quotas(p_quotas, 'turns');
  END IF;
  IF p_busy = 'interrupt' AND (queued > 0 OR runs) THEN
    SELECT c.cancelled, c.running INTO cancelled, running FROM cancel_turns(s.ref, p_at) AS c;
    queued := 0;
  END IF;

  changed := s;
  IF p_fields::text <> '{}' OR p_state IS NOT NULL THEN
    changed := with_fields(s, p_fields, p_state);
  END IF;
  IF NOT live THEN
    changed.version := s.version + 1;
  END IF;
  changed.interrupted := false;
  changed.active_at := greatest(s.active_at, p_at);
  changed.last_turn_no := s.last_turn_no + 1;
  changed.text_bytes := s.text_bytes + octet_length(p_text);
  changed.shown_messages := s.shown_messages + 1;
  changed := commit_session(changed, '{}', '{}', p_at);

  -- The turn starts now only if no turn runs and none is queued before it.
  starts := p_owner IS NOT NULL AND queued = 0 AND NOT runs;
  INSERT INTO turns AS n (id, session, no, app, client_id, key_id, status, attempt, owner, lease_until, created_at)
  VALUES (
    p_turn, s.ref, changed.last_turn_no, p_app, p_client, p_app_key, CASE WHEN starts THEN 'running' ELSE 'queued' END,
    starts::integer, CASE WHEN starts THEN p_owner END,
    CASE WHEN starts THEN clock_timestamp() + p_lease_ms * interval '1 millisecond' ELSE '-infinity' END, p_at)
  RETURNING turn_json(n) INTO turn;
  INSERT INTO messages (id, session, turn_no, turn_id, position, role, content, created_at)
  VALUES (p_message, s.ref, changed.last_turn_no, p_turn, 0, 'user', p_text, p_at);
  IF p_key IS NOT NULL THEN
    INSERT INTO idempotency_keys (session, key, fingerprint, turn_id, created_at)
    VALUES (s.ref, p_key, p_fingerprint, p_turn, p_at)
    ON CONFLICT (session, key) DO UPDATE SET
      fingerprint = EXCLUDED.fingerprint, turn_id = EXCLUDED.turn_id, created_at = EXCLUDED.created_at;
  END IF;
  RETURN json_build_object(
    'kind', 'accepted', 'created', NOT live, 'session', row_to_json(changed), 'turn', turn,
    'cancelled', cancelled, 'running', running);
END
$$;
