-- The size of a thread's text, in bytes of UTF-8 (content, and calls and results as JSON), and the number of messages
-- that a snapshot shows for it: one for a text, and one for each tool result. Every write of messages updates both.
ALTER TABLE sessions ADD COLUMN text_bytes bigint NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN shown_messages bigint NOT NULL DEFAULT 0;

CREATE FUNCTION message_bytes(m messages) RETURNS integer
LANGUAGE sql STABLE AS $$
  SELECT octet_length(m.content) + coalesce(octet_length(m.tool_calls::text), 0) + coalesce(octet_length(m.tool_results::text), 0)
$$;

CREATE FUNCTION message_shown(m messages) RETURNS integer
LANGUAGE sql STABLE AS $$
  SELECT (m.content <> '' OR m.role <> 'assistant')::integer + coalesce(json_array_length(m.tool_results), 0)
$$;

UPDATE sessions SET text_bytes = held.bytes, shown_messages = held.shown
FROM (SELECT session, sum(message_bytes(m)) AS bytes, sum(message_shown(m)) AS shown FROM messages m GROUP BY session) AS held
WHERE held.session = sessions.ref;

-- Inserts or replaces messages of a turn. Returns the session's row with the sizes updated; the caller saves it.
CREATE FUNCTION with_messages(s sessions, t turns, p_messages json) RETURNS sessions
LANGUAGE plpgsql AS $$
DECLARE
  ids text[] := ARRAY(SELECT r.id FROM json_to_recordset(p_messages) AS r (id text));
  bytes bigint;
  shown bigint;
BEGIN
  SELECT coalesce(sum(message_bytes(m)), 0), coalesce(sum(message_shown(m)), 0) INTO bytes, shown
  FROM messages m WHERE m.id = ANY (ids) AND m.session = s.ref;
  s.text_bytes := s.text_bytes - bytes;
  s.shown_messages := s.shown_messages - shown;
  PERFORM put_messages(t, p_messages);
  SELECT coalesce(sum(message_bytes(m)), 0), coalesce(sum(message_shown(m)), 0) INTO bytes, shown
  FROM messages m WHERE m.id = ANY (ids) AND m.session = s.ref;
  s.text_bytes := s.text_bytes + bytes;
  s.shown_messages := s.shown_messages + shown;
  RETURN s;
END
$$;

-- As in 0002; also saves the size.
CREATE OR REPLACE FUNCTION commit_session(s sessions, p_events text[], p_notices text[], p_at bigint) RETURNS sessions
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
    last_system_no = s.last_system_no, text_bytes = s.text_bytes, shown_messages = s.shown_messages
  WHERE ref = s.ref;
  RETURN s;
END
$$;

-- As in 0002; also sets the size to zero.
CREATE OR REPLACE FUNCTION make_session(p_id text, p_title text, p_at bigint) RETURNS SETOF sessions
LANGUAGE sql AS $$
  INSERT INTO sessions (id, title, title_source, created_at, active_at)
  VALUES (p_id, p_title, 'placeholder', p_at, p_at)
  ON CONFLICT (id) DO UPDATE SET
    title = EXCLUDED.title, title_source = EXCLUDED.title_source, wallet = NULL, rig = NULL, client = NULL,
    app = NULL, user_state = NULL, interrupted = false, created_at = EXCLUDED.created_at, active_at = EXCLUDED.active_at,
    last_turn_no = 0, text_bytes = 0, shown_messages = 0, deleted_at = NULL
  WHERE sessions.deleted_at IS NOT NULL
  RETURNING *
$$;

-- As in 0008; also sets the size to zero.
CREATE OR REPLACE FUNCTION bury(s sessions, p_at bigint) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO buried (session) VALUES (s.ref);
  UPDATE sessions SET
    ref = nextval('session_refs'), title = '', wallet = NULL, rig = NULL, client = NULL, app = NULL,
    user_state = NULL, faults_claimed_by = NULL, faults_claimed_until = NULL, text_bytes = 0, shown_messages = 0, deleted_at = p_at
  WHERE ref = s.ref
$$;

-- As in 0010; also updates the size.
CREATE OR REPLACE FUNCTION save_progress(
  p_session text, p_turn text, p_owner text, p_attempt integer,
  p_messages json, p_events text[], p_notices text[], p_partial_text text, p_at bigint
) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
  s sessions;
  t turns;
BEGIN
  SELECT * INTO s FROM sessions WHERE id = p_session AND deleted_at IS NULL FOR UPDATE;
  UPDATE turns SET partial_text = coalesce(p_partial_text, partial_text),
    partial_attempt = CASE WHEN p_partial_text IS NULL THEN partial_attempt ELSE p_attempt END
  WHERE id = p_turn AND session = s.ref AND status = 'running' AND owner = p_owner AND attempt = p_attempt
  RETURNING * INTO t;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  IF json_array_length(p_messages) > 0 OR cardinality(p_events) > 0 THEN
    s := commit_session(with_messages(s, t, p_messages), p_events, p_notices, p_at);
  END IF;
  RETURN json_build_object('revision', s.revision, 'last_event_id', s.last_event_id);
END
$$;

-- As in 0004; also updates the size.
CREATE OR REPLACE FUNCTION end_turn(
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
  s := with_messages(s, t, p_messages);
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

-- As in 0004; also refuses a message that exceeds p_max_bytes. Nodes of an earlier version omit this parameter.
DROP FUNCTION accept_message(
  text, bigint, text, json, text, text, text, text, text, text, text, text, text, bigint, text, integer, json, text, bigint, bigint);

CREATE FUNCTION accept_message(
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
  t turns;
  claimed json;
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
  changed.text_bytes := s.text_bytes + octet_length(p_text);
  changed.shown_messages := s.shown_messages + 1;
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
