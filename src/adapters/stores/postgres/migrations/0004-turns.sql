-- Returns a turn as JSON, without its internal keys.
CREATE FUNCTION turn_json(t turns) RETURNS json
LANGUAGE sql STABLE AS $$
  SELECT json_build_object(
    'id', t.id, 'no', t.no, 'app', t.app, 'client_id', t.client_id, 'key_id', t.key_id, 'status', t.status, 'attempt', t.attempt,
    'losses', t.losses, 'owner', t.owner, 'cancel_requested', t.cancel_requested, 'created_at', t.created_at,
    'error', t.error, 'partial_text', t.partial_text)
$$;

-- Assigns a turn to an owner with a lease. The lease ends by the database's clock.
CREATE FUNCTION claim_turn(p_ref bigint, p_owner text, p_lease_ms bigint, p_losses integer) RETURNS json
LANGUAGE sql AS $$
  UPDATE turns SET
    status = 'running', owner = p_owner, attempt = attempt + 1, losses = losses + p_losses,
    lease_until = clock_timestamp() + p_lease_ms * interval '1 millisecond'
  WHERE ref = p_ref
  RETURNING turn_json(turns)
$$;

-- Inserts or replaces messages of a turn by id.
CREATE FUNCTION put_messages(t turns, p_messages json) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  stored integer;
BEGIN
  INSERT INTO messages AS m
    (id, session, turn_no, turn_id, position, role, content, tool_calls, tool_results, created_at)
  SELECT r.id, t.session, t.no, t.id, r.position, r.role, r.content, r.tool_calls::json, r.tool_results::json, r.created_at
  FROM json_to_recordset(p_messages) AS r (
    id text, position integer, role text, content text, tool_calls text, tool_results text, created_at bigint)
  ON CONFLICT (id) DO UPDATE SET
    position = EXCLUDED.position, role = EXCLUDED.role, content = EXCLUDED.content, tool_calls = EXCLUDED.tool_calls,
    tool_results = EXCLUDED.tool_results, created_at = EXCLUDED.created_at
  WHERE m.session = EXCLUDED.session AND m.turn_no = EXCLUDED.turn_no;
  GET DIAGNOSTICS stored = ROW_COUNT;
  IF stored < json_array_length(p_messages) THEN
    RAISE EXCEPTION 'a record belongs to another turn' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
END
$$;

-- Ends the queued turns of a session as interrupted, and requests cancellation of the running one.
CREATE FUNCTION cancel_turns(p_session bigint, p_at bigint, OUT cancelled json, OUT running json)
LANGUAGE plpgsql AS $$
BEGIN
  WITH ended AS (
    UPDATE turns SET status = 'interrupted', ended_at = p_at WHERE session = p_session AND status = 'queued' RETURNING *
  )
  SELECT coalesce(json_agg(turn_json(ended) ORDER BY ended.no), '[]') INTO cancelled FROM ended;
  UPDATE turns SET cancel_requested = true WHERE session = p_session AND status = 'running'
  RETURNING turn_json(turns) INTO running;
END
$$;

CREATE FUNCTION accept_message(
  p_session text, p_if_version bigint, p_title text, p_fields json, p_state text,
  p_turn text, p_message text, p_text text, p_app text, p_client text, p_app_key text,
  p_key text, p_fingerprint text, p_not_before bigint,
  p_busy text, p_max_queued integer, p_quotas json, p_owner text, p_lease_ms bigint, p_at bigint
) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
  s sessions;
  changed sessions;
  used idempotency_keys;
  t turns;
  claimed json;
  cancelled json := '[]';
  running json;
  live boolean;
  queued integer := 0;
  runs boolean := false;
  exhausted integer;
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
    IF live THEN
      queued := (SELECT count(*) FROM turns WHERE session = s.ref AND status = 'queued');
      runs := EXISTS (SELECT FROM turns WHERE session = s.ref AND status = 'running');
      IF p_busy = 'reject' AND (queued > 0 OR runs) THEN
        RETURN json_build_object('kind', 'busy');
      ELSIF p_busy = 'enqueue' AND (queued > 0 OR runs) AND queued >= p_max_queued THEN
        RETURN json_build_object('kind', 'queue_full');
      END IF;
    END IF;
    exhausted := find_exhausted(p_quotas);
    IF exhausted IS NOT NULL THEN
      RETURN json_build_object('kind', 'over_quota', 'quota_no', exhausted);
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

  changed := with_fields(s, p_fields, p_state);
  IF NOT live THEN
    changed.version := s.version + 1;
  END IF;
  changed.interrupted := false;
  changed.active_at := greatest(s.active_at, p_at);
  changed.last_turn_no := s.last_turn_no + 1;
  changed := commit_session(changed, '{}', '{}', p_at);

  INSERT INTO turns (id, session, no, app, client_id, key_id, status, created_at)
  VALUES (p_turn, s.ref, changed.last_turn_no, p_app, p_client, p_app_key, 'queued', p_at)
  RETURNING * INTO t;
  INSERT INTO messages (id, session, turn_no, turn_id, position, role, content, created_at)
  VALUES (p_message, s.ref, t.no, t.id, 0, 'user', p_text, p_at);
  IF p_key IS NOT NULL THEN
    INSERT INTO idempotency_keys (session, key, fingerprint, turn_id, created_at)
    VALUES (s.ref, p_key, p_fingerprint, p_turn, p_at)
    ON CONFLICT (session, key) DO UPDATE SET
      fingerprint = EXCLUDED.fingerprint, turn_id = EXCLUDED.turn_id, created_at = EXCLUDED.created_at;
  END IF;
  -- The turn starts now only if no turn runs and none is queued before it.
  IF p_owner IS NOT NULL AND queued = 0 AND NOT runs THEN
    claimed := claim_turn(t.ref, p_owner, p_lease_ms, 0);
  END IF;
  RETURN json_build_object(
    'kind', 'accepted', 'created', NOT live, 'session', row_to_json(changed), 'turn', coalesce(claimed, turn_json(t)),
    'cancelled', cancelled, 'running', running);
END
$$;

CREATE FUNCTION interrupt_turns(p_session text, p_at bigint) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
  s sessions;
  c record;
BEGIN
  SELECT * INTO s FROM sessions WHERE id = p_session AND deleted_at IS NULL FOR UPDATE;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  SELECT * INTO c FROM cancel_turns(s.ref, p_at);
  IF c.running IS NULL AND json_array_length(c.cancelled) = 0 THEN
    RETURN NULL;
  END IF;
  IF c.running IS NULL THEN
    -- When a turn is running, end_turn sets the flag.
    s.interrupted := true;
  END IF;
  s := commit_session(s, '{}', '{}', p_at);
  RETURN json_build_object('revision', s.revision, 'cancelled', c.cancelled, 'running', c.running);
END
$$;

CREATE FUNCTION save_progress(
  p_session text, p_turn text, p_owner text, p_attempt integer,
  p_messages json, p_events text[], p_notices text[], p_partial_text text, p_at bigint
) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
  s sessions;
  t turns;
BEGIN
  SELECT * INTO s FROM sessions WHERE id = p_session AND deleted_at IS NULL FOR UPDATE;
  UPDATE turns SET partial_text = p_partial_text
  WHERE id = p_turn AND session = s.ref AND status = 'running' AND owner = p_owner AND attempt = p_attempt
  RETURNING * INTO t;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  IF json_array_length(p_messages) > 0 OR cardinality(p_events) > 0 THEN
    PERFORM put_messages(t, p_messages);
    s := commit_session(s, p_events, p_notices, p_at);
  END IF;
  RETURN json_build_object('revision', s.revision, 'last_event_id', s.last_event_id);
END
$$;

CREATE FUNCTION end_turn(
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
    status = p_outcome, ended_at = p_at, error = p_error, rig = p_rig, input_tokens = p_input_tokens,
    output_tokens = p_output_tokens, shown_tokens = p_shown_tokens, owner = NULL, lease_until = '-infinity', partial_text = ''
  WHERE id = p_turn AND session = s.ref AND status = 'running' AND owner = p_owner AND attempt = p_attempt
  RETURNING * INTO t;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  PERFORM put_messages(t, p_messages);
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
