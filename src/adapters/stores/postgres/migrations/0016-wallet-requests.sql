-- Transactions and messages that the assistant prepared for a wallet to sign. A deleted session gets a new ref: its
-- requests then have no session until they are removed.
CREATE TABLE wallet_requests (
  session bigint NOT NULL,
  id bigint NOT NULL,
  call_id text COLLATE "C" NOT NULL, -- the tool call that made it
  app text NOT NULL,
  wallet text NOT NULL,
  chain_id bigint NOT NULL,
  label text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('transaction', 'signature')),
  payload json NOT NULL,
  value text NOT NULL, -- in wei, a decimal number of any length; '0' for a message
  sound boolean NOT NULL,
  state text NOT NULL DEFAULT 'staged' CHECK (
    state IN ('staged', 'pending', 'reported', 'expired', 'rejected', 'confirmed', 'failed', 'differs', 'not_found')
  ),
  staged_at bigint NOT NULL,
  requested_at bigint,
  expires_at bigint NOT NULL,
  claim json, -- what the wallet reported
  proof text COLLATE "C", -- the hash in it
  verification json,
  turn_id text COLLATE "C", -- the turn in which the assistant learns the outcome
  PRIMARY KEY (session, id),
  UNIQUE (session, call_id)
);

-- Finds requests to expire.
CREATE INDEX open_wallet_requests ON wallet_requests (expires_at) WHERE state IN ('staged', 'pending');
-- Finds the open requests of a session.
CREATE INDEX open_wallet_requests_of_session ON wallet_requests (session, id) WHERE state IN ('staged', 'pending');
-- Finds what a wallet was asked for in a day.
CREATE INDEX wallet_requests_by_wallet ON wallet_requests (app, wallet, chain_id, requested_at)
WHERE requested_at IS NOT NULL;
-- Finds the request that a transaction has confirmed.
CREATE INDEX wallet_requests_by_proof ON wallet_requests (chain_id, proof) WHERE proof IS NOT NULL;
-- Finds the requests whose outcome a turn learns.
CREATE INDEX wallet_requests_by_turn ON wallet_requests (turn_id, id) WHERE turn_id IS NOT NULL;

-- pending: what the pending rows of wallet_requests show, written together with them; NULL: none is pending.
-- last_wallet_no: the highest id of a wallet request, which goes on after the session was deleted.
ALTER TABLE sessions
  ADD COLUMN archived boolean NOT NULL DEFAULT false,
  ADD COLUMN pending json,
  ADD COLUMN last_wallet_no bigint NOT NULL DEFAULT 0;

-- 'wallet': the service states the outcome of wallet requests.
ALTER TABLE messages ADD COLUMN origin text;

-- Allows a third kind. Not checked for the rows that are there: they satisfied the narrower check.
ALTER TABLE system_events DROP CONSTRAINT system_events_kind_check;
ALTER TABLE system_events ADD CONSTRAINT system_events_kind_check
CHECK (kind IN ('SystemError', 'SystemNotice', 'InlineCall')) NOT VALID;

-- As in 0002; also compares what is archived.
CREATE OR REPLACE FUNCTION with_fields(s sessions, p_fields json, p_state text) RETURNS sessions
LANGUAGE plpgsql AS $$
DECLARE
  changed sessions := json_populate_record(s, p_fields);
BEGIN
  IF p_state IS NOT NULL THEN
    changed.user_state := nullif(p_state, 'null')::json;
  END IF;
  IF (changed.title, changed.title_source, changed.wallet, changed.rig, changed.client, changed.app, changed.archived,
      changed.user_state::text)
    IS DISTINCT FROM (s.title, s.title_source, s.wallet, s.rig, s.client, s.app, s.archived, s.user_state::text) THEN
    changed.version := s.version + 1;
  END IF;
  RETURN changed;
END
$$;

-- As in 0012; also saves what is archived and pending.
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
    last_system_no = s.last_system_no, text_bytes = s.text_bytes, shown_messages = s.shown_messages,
    archived = s.archived, pending = s.pending, last_wallet_no = s.last_wallet_no
  WHERE ref = s.ref;
  RETURN s;
END
$$;

-- As in 0012; also empties what is archived and pending.
CREATE OR REPLACE FUNCTION make_session(p_id text, p_title text, p_at bigint) RETURNS SETOF sessions
LANGUAGE sql AS $$
  INSERT INTO sessions (id, title, title_source, created_at, active_at)
  VALUES (p_id, p_title, 'placeholder', p_at, p_at)
  ON CONFLICT (id) DO UPDATE SET
    title = EXCLUDED.title, title_source = EXCLUDED.title_source, wallet = NULL, rig = NULL, client = NULL,
    app = NULL, user_state = NULL, interrupted = false, created_at = EXCLUDED.created_at, active_at = EXCLUDED.active_at,
    last_turn_no = 0, text_bytes = 0, shown_messages = 0, archived = false, pending = NULL, deleted_at = NULL
  WHERE sessions.deleted_at IS NOT NULL
  RETURNING *
$$;

-- As in 0012; also empties what is archived and pending.
CREATE OR REPLACE FUNCTION bury(s sessions, p_at bigint) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO buried (session) VALUES (s.ref);
  UPDATE sessions SET
    ref = nextval('session_refs'), title = '', wallet = NULL, rig = NULL, client = NULL, app = NULL,
    user_state = NULL, faults_claimed_by = NULL, faults_claimed_until = NULL, text_bytes = 0, shown_messages = 0,
    archived = false, pending = NULL, deleted_at = p_at
  WHERE ref = s.ref
$$;

-- As in 0006; also removes wallet requests. Returns false when there was nothing to remove.
CREATE OR REPLACE FUNCTION sweep_buried(p_limit integer) RETURNS boolean
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
  DELETE FROM wallet_requests WHERE ctid = ANY (ARRAY(SELECT ctid FROM wallet_requests WHERE session = dead LIMIT p_limit));
  GET DIAGNOSTICS removed = ROW_COUNT;
  gone := greatest(gone, removed);
  IF gone < p_limit THEN
    DELETE FROM buried WHERE session = dead;
  END IF;
  RETURN true;
END
$$;

-- As in 0006; also keeps the InlineCalls that no snapshot has delivered.
-- pruned: the session's ref; NULL when there is none. done: true when the session has no more old events.
CREATE OR REPLACE FUNCTION prune_events(p_after bigint, p_kept bigint, p_since bigint, p_limit integer, OUT pruned bigint, OUT done boolean)
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
        AND e.at < p_since AND (e.kind = 'SystemNotice' OR e.n <= full_log.faults_shown)))
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
      AND (e.kind = 'SystemNotice' OR e.n <= s.faults_shown) ORDER BY e.n LIMIT p_limit));
  GET DIAGNOSTICS removed = ROW_COUNT;
  done := done AND removed < p_limit;
END
$$;

-- As in 0004; also stores the origin. Nodes of an earlier version omit it.
CREATE OR REPLACE FUNCTION put_messages(t turns, p_messages json) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  stored integer;
BEGIN
  INSERT INTO messages AS m
    (id, session, turn_no, turn_id, position, role, content, tool_calls, tool_results, created_at, origin)
  SELECT r.id, t.session, t.no, t.id, r.position, r.role, r.content, r.tool_calls::json, r.tool_results::json, r.created_at,
    r.origin
  FROM json_to_recordset(p_messages) AS r (
    id text, position integer, role text, content text, tool_calls text, tool_results text, created_at bigint, origin text)
  ON CONFLICT (id) DO UPDATE SET
    position = EXCLUDED.position, role = EXCLUDED.role, content = EXCLUDED.content, tool_calls = EXCLUDED.tool_calls,
    tool_results = EXCLUDED.tool_results, created_at = EXCLUDED.created_at, origin = EXCLUDED.origin
  WHERE m.session = EXCLUDED.session AND m.turn_no = EXCLUDED.turn_no;
  GET DIAGNOSTICS stored = ROW_COUNT;
  IF stored < json_array_length(p_messages) THEN
    RAISE EXCEPTION 'a record belongs to another turn' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
END
$$;

-- Claims the faults above faults_shown for a node: errors and InlineCalls. Replaces claim_unshown_faults, which knows
-- errors alone and stays for nodes of an earlier version.
CREATE FUNCTION claim_system_faults(p_id text, p_owner text, p_claim_ms bigint, p_lost text) RETURNS json
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
  SELECT json_agg(json_build_object('n', e.n, 'kind', e.kind, 'text', e.text) ORDER BY e.n) INTO faults
  FROM system_events e WHERE e.session = s.ref AND e.n > s.faults_shown AND e.kind <> 'SystemNotice';
  IF faults IS NOT NULL THEN
    UPDATE sessions SET
      faults_claimed_by = p_owner, faults_claimed_until = clock_timestamp() + p_claim_ms * interval '1 millisecond'
    WHERE ref = s.ref;
  END IF;
  RETURN json_build_object('shown', s.faults_shown, 'faults', coalesce(faults, '[]'::json), 'held', NULL);
END
$$;

-- Returns what a session shows of its pending requests; NULL: none is pending.
CREATE FUNCTION pending_of(p_session bigint) RETURNS json
LANGUAGE sql STABLE AS $$
  SELECT json_agg(
    json_build_object(
      'id', r.id, 'app', r.app, 'wallet', r.wallet, 'chainId', r.chain_id, 'label', r.label, 'payload', r.payload,
      'expiresAt', r.expires_at)
    ORDER BY r.id)
  FROM wallet_requests r WHERE r.session = p_session AND r.state = 'pending'
$$;

-- Returns requests of a session as JSON, in the order of p_ids.
CREATE FUNCTION requests_json(p_session bigint, p_ids bigint[]) RETURNS json
LANGUAGE sql STABLE AS $$
  SELECT coalesce(json_agg(row_to_json(r) ORDER BY array_position(p_ids, r.id)), '[]')
  FROM wallet_requests r WHERE r.session = p_session AND r.id = ANY (p_ids)
$$;

-- Stores a request as staged, unless its call has stored one or a bound is reached.
CREATE FUNCTION stage_wallet_request(
  p_session text, p_call text, p_app text, p_wallet text, p_chain bigint, p_label text, p_kind text, p_payload text,
  p_value text, p_sound boolean, p_staged_at bigint, p_expires_at bigint, p_max_open integer, p_max_bytes integer
) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
  s sessions;
  r wallet_requests;
BEGIN
  SELECT * INTO s FROM sessions WHERE id = p_session AND deleted_at IS NULL FOR UPDATE;
  IF NOT FOUND THEN
    RETURN json_build_object('kind', 'missing');
  END IF;
  SELECT * INTO r FROM wallet_requests WHERE session = s.ref AND call_id = p_call;
  IF FOUND THEN
    RETURN json_build_object('kind', 'exists', 'request', row_to_json(r));
  END IF;
  IF octet_length(p_payload) > p_max_bytes
    OR (SELECT count(*) FROM wallet_requests WHERE session = s.ref AND state IN ('staged', 'pending')) >= p_max_open THEN
    RETURN json_build_object('kind', 'full');
  END IF;
  UPDATE sessions SET last_wallet_no = last_wallet_no + 1 WHERE ref = s.ref RETURNING last_wallet_no INTO s.last_wallet_no;
  INSERT INTO wallet_requests
    (session, id, call_id, app, wallet, chain_id, label, kind, payload, value, sound, staged_at, expires_at)
  VALUES (
    s.ref, s.last_wallet_no, p_call, p_app, p_wallet, p_chain, p_label, p_kind, p_payload::json, p_value, p_sound,
    p_staged_at, p_expires_at)
  RETURNING * INTO r;
  RETURN json_build_object('kind', 'staged', 'request', row_to_json(r));
END
$$;

-- Returns how much a wallet was asked for since then, in wei. Rejected requests do not count.
CREATE FUNCTION wallet_value_since(p_app text, p_wallet text, p_chain bigint, p_since bigint) RETURNS numeric
LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(value::numeric), 0) FROM wallet_requests
  WHERE app = p_app AND wallet = p_wallet AND chain_id = p_chain AND requested_at >= p_since AND state <> 'rejected'
$$;

-- Returns the first group of requests that exceeds the limit of the day, as JSON; NULL: none does. Locks what the wallets
-- were asked for until the transaction ends, in a fixed order and after the session, so that concurrent writers can
-- neither exceed a limit together nor deadlock.
-- p_most: the most in wei, by chain.
CREATE FUNCTION over_daily(p_session bigint, p_ids bigint[], p_since bigint, p_most json) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
  asked record;
  used numeric;
BEGIN
  IF p_most IS NULL THEN
    RETURN NULL;
  END IF;
  FOR asked IN
    SELECT DISTINCT hashtextextended(concat_ws(' ', r.chain_id, r.wallet, r.app), 1) AS key FROM wallet_requests r
    WHERE r.session = p_session AND r.id = ANY (p_ids) AND p_most ->> r.chain_id::text IS NOT NULL ORDER BY key
  LOOP
    PERFORM pg_advisory_xact_lock(asked.key);
  END LOOP;
  FOR asked IN
    SELECT r.app, r.wallet, r.chain_id, sum(r.value::numeric) AS value, (p_most ->> r.chain_id::text)::numeric AS most
    FROM wallet_requests r
    WHERE r.session = p_session AND r.id = ANY (p_ids) AND p_most ->> r.chain_id::text IS NOT NULL
    GROUP BY r.app, r.wallet, r.chain_id ORDER BY min(array_position(p_ids, r.id))
  LOOP
    used := wallet_value_since(asked.app, asked.wallet, asked.chain_id, p_since);
    IF asked.value > 0 AND used + asked.value > asked.most THEN
      RETURN json_build_object('kind', 'over_daily', 'chain_id', asked.chain_id, 'used', used::text);
    END IF;
  END LOOP;
  RETURN NULL;
END
$$;

-- Makes staged requests pending: all of them, or none.
CREATE FUNCTION request_wallet(
  p_session text, p_ids bigint[], p_event text, p_since bigint, p_most json, p_expires_at bigint, p_at bigint,
  p_max_bytes bigint
) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
  s sessions;
  r wallet_requests;
  request bigint;
  waiting bigint;
  pending integer := 0;
  bytes bigint;
  refusal json;
BEGIN
  SELECT * INTO s FROM sessions WHERE id = p_session AND deleted_at IS NULL FOR UPDATE;
  FOREACH request IN ARRAY p_ids LOOP
    SELECT * INTO r FROM wallet_requests WHERE session = s.ref AND id = request;
    IF NOT FOUND THEN
      RETURN json_build_object('kind', 'refused', 'id', request, 'reason', 'unknown');
    ELSIF r.state = 'expired' OR r.state IN ('staged', 'pending') AND r.expires_at <= p_at THEN
      RETURN json_build_object('kind', 'refused', 'id', request, 'reason', 'expired');
    ELSIF r.state NOT IN ('staged', 'pending') THEN
      RETURN json_build_object('kind', 'refused', 'id', request, 'reason', 'settled');
    ELSIF NOT r.sound THEN
      RETURN json_build_object('kind', 'refused', 'id', request, 'reason', 'unsound');
    ELSIF r.state = 'pending' THEN
      pending := pending + 1;
      waiting := coalesce(waiting, request);
    END IF;
  END LOOP;
  IF pending = cardinality(p_ids) THEN
    RETURN json_build_object('kind', 'unchanged', 'requests', requests_json(s.ref, p_ids));
  ELSIF pending > 0 THEN
    RETURN json_build_object('kind', 'refused', 'id', waiting, 'reason', 'pending');
  END IF;

  bytes := (
    SELECT coalesce(sum(octet_length(payload::text)), 0) FROM wallet_requests WHERE session = s.ref AND state = 'pending');
  FOREACH request IN ARRAY p_ids LOOP
    bytes := bytes + (SELECT octet_length(payload::text) FROM wallet_requests WHERE session = s.ref AND id = request);
    IF bytes > p_max_bytes THEN
      RETURN json_build_object('kind', 'refused', 'id', request, 'reason', 'full');
    END IF;
  END LOOP;
  refusal := over_daily(s.ref, p_ids, p_since, p_most);
  IF refusal IS NOT NULL THEN
    RETURN refusal;
  END IF;

  UPDATE wallet_requests SET state = 'pending', requested_at = p_at, expires_at = p_expires_at
  WHERE session = s.ref AND id = ANY (p_ids);
  s.pending := pending_of(s.ref);
  s.last_system_no := s.last_system_no + 1;
  INSERT INTO system_events (session, n, at, kind, text) VALUES (s.ref, s.last_system_no, p_at, 'InlineCall', p_event);
  s := commit_session(s, '{}', '{}', p_at);
  RETURN json_build_object('kind', 'requested', 'session', row_to_json(s), 'requests', requests_json(s.ref, p_ids));
END
$$;

-- Returns the row of a session with a new turn and its first record counted; the caller saves it.
CREATE FUNCTION with_turn(s sessions, p_text text, p_at bigint) RETURNS sessions
LANGUAGE plpgsql AS $$
BEGIN
  s.active_at := greatest(s.active_at, p_at);
  s.last_turn_no := s.last_turn_no + 1;
  s.text_bytes := s.text_bytes + octet_length(p_text);
  s.shown_messages := s.shown_messages + 1;
  RETURN s;
END
$$;

-- Inserts the turn that was counted last, with its first record, a system message.
CREATE FUNCTION insert_turn(
  s sessions, p_turn text, p_message text, p_text text, p_origin text, p_app text, p_client text, p_status text, p_at bigint
) RETURNS turns
LANGUAGE plpgsql AS $$
DECLARE
  t turns;
BEGIN
  INSERT INTO turns (id, session, no, app, client_id, status, created_at, ended_at)
  VALUES (
    p_turn, s.ref, s.last_turn_no, p_app, p_client, p_status, p_at, CASE WHEN p_status = 'complete' THEN p_at END)
  RETURNING * INTO t;
  INSERT INTO messages (id, session, turn_no, turn_id, position, role, content, created_at, origin)
  VALUES (p_message, s.ref, t.no, t.id, 0, 'system', p_text, p_at, p_origin);
  RETURN t;
END
$$;

-- Stores what a wallet reported, and queues the turn in which the assistant learns it. Returns NULL when one of the
-- requests is not pending.
CREATE FUNCTION report_wallet_outcome(
  p_session text, p_ids bigint[], p_state text, p_claim text, p_proof text, p_turn text, p_message text, p_text text,
  p_app text, p_client text, p_owner text, p_lease_ms bigint, p_at bigint
) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
  s sessions;
  t turns;
  is_next boolean;
  claimed json;
BEGIN
  SELECT * INTO s FROM sessions WHERE id = p_session AND deleted_at IS NULL FOR UPDATE;
  IF NOT FOUND OR cardinality(p_ids) = 0 OR cardinality(p_ids) <> (
    SELECT count(*) FROM wallet_requests WHERE session = s.ref AND id = ANY (p_ids) AND state = 'pending') THEN
    RETURN NULL;
  END IF;
  UPDATE wallet_requests SET state = p_state, claim = p_claim::json, proof = p_proof, turn_id = p_turn
  WHERE session = s.ref AND id = ANY (p_ids);
  is_next := NOT EXISTS (SELECT FROM turns WHERE session = s.ref AND status = 'running')
    AND NOT EXISTS (SELECT FROM turns WHERE session = s.ref AND status = 'queued');
  s.pending := pending_of(s.ref);
  s.interrupted := false;
  s := commit_session(with_turn(s, p_text, p_at), '{}', '{}', p_at);
  t := insert_turn(s, p_turn, p_message, p_text, 'wallet', p_app, p_client, 'queued', p_at);
  IF p_owner IS NOT NULL AND is_next THEN
    claimed := claim_turn(t.ref, p_owner, p_lease_ms, 0);
  END IF;
  RETURN json_build_object('session', row_to_json(s), 'turn', coalesce(claimed, turn_json(t)));
END
$$;

-- Stores the verification of a reported request of this turn; the first one holds. Returns the request; NULL: there is
-- none. Locks the hash after the session, so that a transaction confirms one request.
-- p_taken: what to store instead when the transaction has confirmed another request.
CREATE FUNCTION verify_wallet_request(
  p_session text, p_id bigint, p_turn text, p_verdict text, p_verification text, p_taken_verdict text, p_taken text
) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
  s sessions;
  r wallet_requests;
  taken boolean := false;
BEGIN
  SELECT * INTO s FROM sessions WHERE id = p_session AND deleted_at IS NULL FOR UPDATE;
  SELECT * INTO r FROM wallet_requests WHERE session = s.ref AND id = p_id AND turn_id = p_turn;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  IF r.state = 'reported' THEN
    IF p_verdict = 'confirmed' AND r.kind = 'transaction' AND r.proof IS NOT NULL THEN
      PERFORM pg_advisory_xact_lock(hashtextextended(concat_ws(' ', r.chain_id, r.proof), 2));
      taken := EXISTS (
        SELECT FROM wallet_requests o JOIN sessions l ON l.ref = o.session
        WHERE o.chain_id = r.chain_id AND o.proof = r.proof AND o.state = 'confirmed');
    END IF;
    UPDATE wallet_requests SET
      state = CASE WHEN taken THEN p_taken_verdict ELSE p_verdict END,
      verification = (CASE WHEN taken THEN p_taken ELSE p_verification END)::json
    WHERE session = s.ref AND id = p_id
    RETURNING * INTO r;
  END IF;
  RETURN row_to_json(r);
END
$$;

-- Expires open requests whose time is over. Returns the sessions, with the new revision of those that showed one.
-- Skips locked sessions: the next call finds their requests.
CREATE FUNCTION expire_wallet_requests(p_now bigint, p_limit integer) RETURNS SETOF json
LANGUAGE plpgsql AS $$
DECLARE
  refs bigint[];
  ids bigint[];
  s sessions;
  changed integer;
  shown integer;
BEGIN
  SELECT array_agg(overdue.session), array_agg(overdue.id) INTO refs, ids
  FROM (
    SELECT r.session, r.id FROM wallet_requests r JOIN sessions l ON l.ref = r.session
    WHERE r.state IN ('staged', 'pending') AND r.expires_at <= p_now ORDER BY r.expires_at LIMIT p_limit
  ) AS overdue;
  FOR s IN SELECT * FROM sessions WHERE ref = ANY (refs) AND deleted_at IS NULL ORDER BY ref FOR UPDATE SKIP LOCKED LOOP
    -- Checks again under the lock: a request may have been reported since.
    WITH expired AS (
      UPDATE wallet_requests r SET state = 'expired' FROM unnest(refs, ids) AS o (session, id)
      WHERE o.session = s.ref AND r.session = s.ref AND r.id = o.id AND r.state IN ('staged', 'pending')
        AND r.expires_at <= p_now
      RETURNING r.requested_at
    )
    SELECT count(*), count(requested_at) INTO changed, shown FROM expired;
    CONTINUE WHEN changed = 0;
    IF shown > 0 THEN
      s.pending := pending_of(s.ref);
      s := commit_session(s, '{}', '{}', p_now);
    END IF;
    RETURN NEXT json_build_object('session_id', s.id, 'revision', CASE WHEN shown > 0 THEN s.revision END);
  END LOOP;
END
$$;

-- Stores a system message with a turn that has ended.
CREATE FUNCTION add_note(
  p_session text, p_title text, p_turn text, p_message text, p_text text, p_app text, p_max_bytes bigint, p_at bigint
) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
  s sessions;
  t turns;
  live boolean;
  held bigint;
BEGIN
  LOOP
    SELECT * INTO s FROM sessions WHERE id = p_session FOR UPDATE;
    live := FOUND AND s.deleted_at IS NULL;
    held := CASE WHEN live THEN s.text_bytes ELSE 0 END;
    IF held + octet_length(p_text) > p_max_bytes THEN
      RETURN json_build_object('kind', 'full', 'bytes', held);
    END IF;
    EXIT WHEN live;
    SELECT * INTO s FROM make_session(p_session, p_title, p_at);
    -- Not found: a concurrent transaction has just created it.
    EXIT WHEN FOUND;
  END LOOP;
  IF NOT live THEN
    s.version := s.version + 1;
  END IF;
  s := commit_session(with_turn(s, p_text, p_at), '{}', '{}', p_at);
  t := insert_turn(s, p_turn, p_message, p_text, NULL, p_app, NULL, 'complete', p_at);
  RETURN json_build_object('kind', 'noted', 'created', NOT live, 'session', row_to_json(s), 'turn', turn_json(t));
END
$$;
