-- The schema after all migrations, for readers: the service runs only the files in migrations/, where comments say
-- what each column is for. `npm run schema` writes this file, and a test compares it with what the migrations make.

CREATE TABLE activity (
  at bigint NOT NULL,
  node text NOT NULL,
  complete bigint NOT NULL,
  interrupted bigint NOT NULL,
  failed bigint NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  first_text text NOT NULL,
  duration text NOT NULL,
  PRIMARY KEY (at, node)
);

CREATE TABLE app_keys (
  id text NOT NULL,
  digest text NOT NULL,
  apps json NOT NULL,
  label text NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint,
  revoked_at bigint,
  PRIMARY KEY (id),
  UNIQUE (digest)
);

CREATE TABLE buried (
  session bigint NOT NULL,
  PRIMARY KEY (session)
);

CREATE TABLE events (
  session bigint NOT NULL,
  id bigint NOT NULL,
  at bigint NOT NULL,
  body json NOT NULL,
  PRIMARY KEY (session, id)
);

CREATE TABLE failures (
  at bigint NOT NULL,
  turn_id text NOT NULL,
  of_session text NOT NULL,
  app text NOT NULL,
  rig text,
  reason text,
  PRIMARY KEY (at, turn_id)
);

CREATE TABLE idempotency_keys (
  session bigint NOT NULL,
  key text NOT NULL,
  fingerprint text NOT NULL,
  turn_id text NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (session, key)
);

CREATE INDEX idempotency_keys_by_age ON idempotency_keys USING btree (created_at);

CREATE TABLE long_logs (
  session bigint NOT NULL,
  oldest_at bigint NOT NULL,
  PRIMARY KEY (session)
);

CREATE INDEX long_logs_by_age ON long_logs USING btree (oldest_at, session);

CREATE TABLE messages (
  id text NOT NULL,
  session bigint NOT NULL,
  turn_no bigint NOT NULL,
  turn_id text NOT NULL,
  position integer NOT NULL,
  role text NOT NULL,
  content text NOT NULL,
  tool_calls json,
  tool_results json,
  created_at bigint NOT NULL,
  origin text,
  CHECK ((role = ANY (ARRAY['user'::text, 'assistant'::text, 'system'::text]))),
  PRIMARY KEY (id),
  UNIQUE (session, turn_no, "position")
);

CREATE INDEX failures_of_session ON messages USING btree (session) WHERE ((role = 'system'::text) AND (origin IS NULL) AND ("position" > 0));

CREATE TABLE notices (
  name text NOT NULL,
  owner text NOT NULL,
  claimed_until bigint NOT NULL,
  delivered_at bigint,
  PRIMARY KEY (name)
);

CREATE TABLE open_calls (
  call_id text NOT NULL,
  session bigint NOT NULL,
  tool_name text NOT NULL,
  owner text NOT NULL,
  lease_until timestamp with time zone NOT NULL,
  PRIMARY KEY (call_id)
);

CREATE TABLE past_transactions (
  of_session text NOT NULL,
  id bigint NOT NULL,
  app text NOT NULL,
  wallet text NOT NULL,
  chain_id bigint NOT NULL,
  value text NOT NULL,
  requested_at bigint NOT NULL,
  proof text,
  PRIMARY KEY (of_session, id)
);

CREATE INDEX past_transactions_by_age ON past_transactions USING btree (requested_at);

CREATE INDEX past_transactions_by_proof ON past_transactions USING btree (chain_id, proof) WHERE (proof IS NOT NULL);

CREATE INDEX past_transactions_by_wallet ON past_transactions USING btree (app, wallet, chain_id, requested_at);

CREATE TABLE probe (
  id integer NOT NULL,
  at bigint NOT NULL,
  CHECK ((id = 1)),
  PRIMARY KEY (id)
);

CREATE TABLE secret_apps (
  app text NOT NULL,
  secrets bigint NOT NULL,
  bytes bigint NOT NULL,
  PRIMARY KEY (app)
);

CREATE TABLE secrets (
  client text NOT NULL,
  app text NOT NULL,
  name text NOT NULL,
  key_id text NOT NULL,
  sealed text NOT NULL,
  created_at bigint NOT NULL,
  used_at bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (client, app, name)
);

CREATE INDEX secrets_by_key ON secrets USING btree (key_id);

CREATE INDEX secrets_by_use ON secrets USING btree (GREATEST(used_at, created_at));

CREATE TRIGGER secrets_added AFTER INSERT ON secrets REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_secrets_added();

CREATE TRIGGER secrets_removed AFTER DELETE ON secrets REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_secrets_removed();

CREATE TRIGGER secrets_replaced AFTER UPDATE ON secrets REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION count_secrets_replaced();

CREATE TABLE sessions (
  ref bigint NOT NULL DEFAULT nextval('session_refs'::regclass),
  id text NOT NULL,
  title text NOT NULL,
  title_source text NOT NULL,
  wallet text,
  rig text,
  client text,
  app text,
  user_state json,
  interrupted boolean NOT NULL DEFAULT false,
  created_at bigint NOT NULL,
  active_at bigint NOT NULL,
  revision bigint NOT NULL DEFAULT 0,
  version bigint NOT NULL DEFAULT 0,
  last_event_id bigint NOT NULL DEFAULT 0,
  last_turn_no bigint NOT NULL DEFAULT 0,
  last_system_no bigint NOT NULL DEFAULT 0,
  faults_shown bigint NOT NULL DEFAULT 0,
  deleted_at bigint,
  faults_claimed_by text,
  faults_claimed_until timestamp with time zone,
  text_bytes bigint NOT NULL DEFAULT 0,
  shown_messages bigint NOT NULL DEFAULT 0,
  archived boolean NOT NULL DEFAULT false,
  pending json,
  last_wallet_no bigint NOT NULL DEFAULT 0,
  CHECK ((title_source = ANY (ARRAY['placeholder'::text, 'automatic'::text, 'person'::text]))),
  PRIMARY KEY (ref),
  UNIQUE (id)
);

CREATE INDEX threads_by_activity ON sessions USING btree (active_at, id) WHERE (deleted_at IS NULL);

CREATE INDEX threads_of_wallet ON sessions USING btree (wallet, active_at, id) WHERE ((deleted_at IS NULL) AND (wallet IS NOT NULL));

CREATE INDEX threads_of_wallet_list ON sessions USING btree (wallet, active_at, id) INCLUDE (title, archived, created_at) WHERE ((deleted_at IS NULL) AND (wallet IS NOT NULL));

CREATE TRIGGER log_copied AFTER INSERT ON sessions FOR EACH ROW WHEN (((new.last_event_id >= 64) OR (new.last_system_no >= 64))) EXECUTE FUNCTION list_long_log();

CREATE TRIGGER log_grew AFTER UPDATE ON sessions FOR EACH ROW WHEN ((((new.last_event_id / 64) > (old.last_event_id / 64)) OR ((new.last_system_no / 64) > (old.last_system_no / 64)))) EXECUTE FUNCTION list_long_log();

CREATE TABLE system_events (
  session bigint NOT NULL,
  n bigint NOT NULL,
  at bigint NOT NULL,
  kind text NOT NULL,
  text text NOT NULL,
  CHECK ((kind = ANY (ARRAY['SystemError'::text, 'SystemNotice'::text, 'InlineCall'::text]))) NOT VALID,
  PRIMARY KEY (session, n)
);

CREATE TABLE turns (
  ref bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  id text NOT NULL,
  session bigint NOT NULL,
  no bigint NOT NULL,
  app text NOT NULL,
  client_id text,
  key_id text,
  status text NOT NULL,
  attempt integer NOT NULL DEFAULT 0,
  losses integer NOT NULL DEFAULT 0,
  owner text,
  lease_until timestamp with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  cancel_requested boolean NOT NULL DEFAULT false,
  rig text,
  input_tokens bigint NOT NULL DEFAULT 0,
  output_tokens bigint NOT NULL DEFAULT 0,
  shown_tokens bigint NOT NULL DEFAULT 0,
  created_at bigint NOT NULL,
  ended_at bigint,
  error text,
  partial_text text NOT NULL DEFAULT ''::text,
  partial_attempt integer NOT NULL DEFAULT 0,
  partial_since bigint NOT NULL DEFAULT 0,
  CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'complete'::text, 'interrupted'::text, 'failed'::text]))),
  PRIMARY KEY (ref),
  UNIQUE (id),
  UNIQUE (session, no)
);

CREATE INDEX queued_turns ON turns USING btree (session, no) WHERE (status = 'queued'::text);

CREATE UNIQUE INDEX running_turn ON turns USING btree (session) WHERE (status = 'running'::text);

CREATE TABLE usage (
  day bigint NOT NULL,
  surface text NOT NULL,
  endpoint text NOT NULL,
  key_id text NOT NULL,
  client text NOT NULL,
  requests bigint NOT NULL,
  first_at bigint NOT NULL,
  last_at bigint NOT NULL,
  CHECK ((surface = ANY (ARRAY['current'::text, 'legacy'::text, 'field'::text]))),
  PRIMARY KEY (day, surface, endpoint, key_id, client)
);

CREATE TABLE uses (
  subject text NOT NULL,
  measure text NOT NULL,
  window_from bigint NOT NULL,
  amount bigint NOT NULL,
  PRIMARY KEY (subject, measure, window_from)
);

CREATE INDEX uses_by_window ON uses USING btree (window_from);

CREATE TABLE wallet_requests (
  session bigint NOT NULL,
  id bigint NOT NULL,
  call_id text NOT NULL,
  app text NOT NULL,
  wallet text NOT NULL,
  chain_id bigint NOT NULL,
  label text NOT NULL,
  kind text NOT NULL,
  payload json NOT NULL,
  value text NOT NULL,
  sound boolean NOT NULL,
  state text NOT NULL DEFAULT 'staged'::text,
  staged_at bigint NOT NULL,
  requested_at bigint,
  expires_at bigint NOT NULL,
  claim json,
  proof text,
  verification json,
  turn_id text,
  CHECK ((kind = ANY (ARRAY['transaction'::text, 'signature'::text]))),
  CHECK ((state = ANY (ARRAY['staged'::text, 'pending'::text, 'reported'::text, 'expired'::text, 'rejected'::text, 'confirmed'::text, 'failed'::text, 'differs'::text, 'not_found'::text]))),
  PRIMARY KEY (session, id),
  UNIQUE (session, call_id)
);

CREATE INDEX open_wallet_requests ON wallet_requests USING btree (expires_at) WHERE (state = ANY (ARRAY['staged'::text, 'pending'::text]));

CREATE INDEX open_wallet_requests_of_session ON wallet_requests USING btree (session, id) WHERE (state = ANY (ARRAY['staged'::text, 'pending'::text]));

CREATE INDEX wallet_requests_by_proof ON wallet_requests USING btree (chain_id, proof) WHERE (proof IS NOT NULL);

CREATE INDEX wallet_requests_by_turn ON wallet_requests USING btree (turn_id, id) WHERE (turn_id IS NOT NULL);

CREATE INDEX wallet_requests_by_wallet ON wallet_requests USING btree (app, wallet, chain_id, requested_at) WHERE (requested_at IS NOT NULL);

CREATE TABLE work (
  day bigint NOT NULL,
  app text NOT NULL,
  key_id text NOT NULL,
  turns bigint NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  PRIMARY KEY (day, app, key_id)
);

-- 0021-fewer-statements.sql
CREATE OR REPLACE FUNCTION accept_message(p_session text, p_if_version bigint, p_title text, p_fields json, p_state text, p_turn text, p_message text, p_text text, p_app text, p_client text, p_app_key text, p_key text, p_fingerprint text, p_not_before bigint, p_busy text, p_max_queued integer, p_quotas json, p_owner text, p_lease_ms bigint, p_at bigint, p_max_bytes bigint DEFAULT NULL::bigint)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
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
$function$;

-- 0016-wallet-requests.sql
CREATE OR REPLACE FUNCTION add_note(p_session text, p_title text, p_turn text, p_message text, p_text text, p_app text, p_max_bytes bigint, p_at bigint)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
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
$function$;

-- 0003-uses.sql
CREATE OR REPLACE FUNCTION add_uses(p_uses json)
 RETURNS void
 LANGUAGE sql
AS $function$
  INSERT INTO uses (subject, measure, window_from, amount)
  SELECT u.subject, u.measure, u.window_from, sum(u.amount)
  FROM json_to_recordset(p_uses) AS u (subject text, measure text, window_from bigint, amount bigint)
  GROUP BY 1, 2, 3 ORDER BY u.subject COLLATE "C", u.measure COLLATE "C", 3
  ON CONFLICT (subject, measure, window_from) DO UPDATE SET amount = uses.amount + EXCLUDED.amount
$function$;

-- 0002-sessions.sql
CREATE OR REPLACE FUNCTION append_events(p_id text, p_events text[], p_notices text[], p_at bigint)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
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
$function$;

-- 0018-branches.sql
CREATE OR REPLACE FUNCTION branch_session(p_source text, p_if_version bigint, p_before text, p_id text, p_title text, p_fields json, p_state text, p_key text, p_fingerprint text, p_not_before bigint, p_max_bytes bigint, p_at bigint)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
DECLARE
  s sessions;
  b sessions;
  used idempotency_keys;
  end_no bigint := 9223372036854775807;
  end_position integer := 0;
  end_status text := 'complete';
  bytes bigint;
BEGIN
  SELECT * INTO s FROM sessions WHERE id = p_source AND deleted_at IS NULL FOR UPDATE;
  IF NOT FOUND THEN
    RETURN json_build_object('kind', 'missing');
  END IF;
  IF p_key IS NOT NULL THEN
    SELECT * INTO used FROM idempotency_keys WHERE session = s.ref AND key = p_key;
    IF FOUND AND used.created_at >= p_not_before THEN
      IF used.fingerprint = p_fingerprint THEN
        RETURN json_build_object('kind', 'repeated', 'session_id', used.turn_id);
      END IF;
      RETURN json_build_object('kind', 'key_reused');
    END IF;
  END IF;
  IF p_if_version <> s.version THEN
    RETURN json_build_object('kind', 'stale');
  END IF;
  IF p_before IS NOT NULL THEN
    SELECT m.turn_no, m.position, t.status INTO end_no, end_position, end_status
    FROM messages m JOIN turns t ON t.session = m.session AND t.no = m.turn_no
    WHERE m.id = p_before AND m.session = s.ref;
    IF NOT FOUND THEN
      RETURN json_build_object('kind', 'unknown_message');
    ELSIF end_status IN ('queued', 'running') THEN
      RETURN json_build_object('kind', 'open_turn');
    END IF;
  END IF;
  bytes := (
    SELECT coalesce(sum(message_bytes(m)), 0) FROM messages m JOIN turns t ON t.session = m.session AND t.no = m.turn_no
    WHERE m.session = s.ref AND (m.turn_no, m.position) < (end_no, end_position) AND t.status NOT IN ('queued', 'running'));
  IF bytes > p_max_bytes THEN
    RETURN json_build_object('kind', 'full', 'bytes', bytes);
  END IF;

  SELECT * INTO STRICT b FROM make_session(p_id, p_title, p_at);
  b := with_fields(b, p_fields, p_state);
  b.version := 1;
  INSERT INTO turns
    (id, session, no, app, status, rig, input_tokens, output_tokens, shown_tokens, created_at, ended_at, error)
  SELECT
    gen_random_uuid(), b.ref, t.no, t.app, t.status, t.rig, t.input_tokens, t.output_tokens, t.shown_tokens, t.created_at,
    t.ended_at, t.error
  FROM turns t
  WHERE t.session = s.ref AND (t.no, 0) < (end_no, end_position) AND t.status NOT IN ('queued', 'running');
  INSERT INTO messages
    (id, session, turn_no, turn_id, position, role, content, tool_calls, tool_results, created_at, origin)
  SELECT
    gen_random_uuid(), b.ref, m.turn_no, t.id, m.position, m.role, m.content, m.tool_calls, m.tool_results, m.created_at,
    m.origin
  FROM messages m JOIN turns t ON t.session = b.ref AND t.no = m.turn_no
  WHERE m.session = s.ref AND (m.turn_no, m.position) < (end_no, end_position);
  SELECT coalesce(sum(message_shown(m)), 0), coalesce(max(m.turn_no), 0) INTO b.shown_messages, b.last_turn_no
  FROM messages m WHERE m.session = b.ref;
  b.text_bytes := bytes;
  b.interrupted := coalesce(
    (SELECT t.status = 'interrupted' FROM turns t WHERE t.session = b.ref ORDER BY t.no DESC LIMIT 1), false);
  b := commit_session(b, '{}', '{}', p_at);
  IF p_key IS NOT NULL THEN
    INSERT INTO idempotency_keys (session, key, fingerprint, turn_id, created_at)
    VALUES (s.ref, p_key, p_fingerprint, p_id, p_at)
    ON CONFLICT (session, key) DO UPDATE SET
      fingerprint = EXCLUDED.fingerprint, turn_id = EXCLUDED.turn_id, created_at = EXCLUDED.created_at;
  END IF;
  RETURN json_build_object('kind', 'branched', 'session', row_to_json(b), 'bytes', bytes);
END
$function$;

-- 0032-failures-of-deleted.sql
CREATE OR REPLACE FUNCTION bury(s sessions, p_at bigint)
 RETURNS void
 LANGUAGE sql
AS $function$
  INSERT INTO buried (session) VALUES (s.ref);
  INSERT INTO past_transactions (of_session, id, app, wallet, chain_id, value, requested_at, proof)
  SELECT s.id, id, app, wallet, chain_id, value, requested_at, CASE WHEN state = 'confirmed' THEN proof END
  FROM wallet_requests
  WHERE session = s.ref AND kind = 'transaction' AND requested_at IS NOT NULL AND state <> 'rejected';
  UPDATE failures SET of_session = '' WHERE of_session = s.id;
  UPDATE sessions SET
    ref = nextval('session_refs'), title = '', wallet = NULL, rig = NULL, client = NULL, app = NULL,
    user_state = NULL, faults_claimed_by = NULL, faults_claimed_until = NULL, text_bytes = 0, shown_messages = 0,
    archived = false, pending = NULL, deleted_at = p_at
  WHERE ref = s.ref
$function$;

-- 0015-open-calls.sql
CREATE OR REPLACE FUNCTION call_mark(p_owner text, p_until timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  SELECT p_owner || ':' || extract(epoch FROM p_until)
$function$;

-- 0004-turns.sql
CREATE OR REPLACE FUNCTION cancel_turns(p_session bigint, p_at bigint, OUT cancelled json, OUT running json)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
BEGIN
  WITH ended AS (
    UPDATE turns SET status = 'interrupted', ended_at = p_at WHERE session = p_session AND status = 'queued' RETURNING *
  )
  SELECT coalesce(json_agg(turn_json(ended) ORDER BY ended.no), '[]') INTO cancelled FROM ended;
  UPDATE turns SET cancel_requested = true WHERE session = p_session AND status = 'running'
  RETURNING turn_json(turns) INTO running;
END
$function$;

-- 0005-leases.sql
CREATE OR REPLACE FUNCTION claim_abandoned(p_owner text, p_lease_ms bigint, p_limit integer)
 RETURNS SETOF json
 LANGUAGE plpgsql
AS $function$
DECLARE
  asked timestamptz := clock_timestamp();
  s record;
  t turns;
  left_over integer := p_limit;
BEGIN
  FOR s IN
    WITH lost AS MATERIALIZED (
      SELECT ref, session FROM turns WHERE status = 'running' AND (owner IS NULL OR lease_until <= asked)
    )
    SELECT l.ref, l.id FROM lost JOIN sessions l ON l.ref = lost.session
    ORDER BY lost.ref LIMIT p_limit FOR UPDATE OF l SKIP LOCKED
  LOOP
    -- Reads the turn again under the lock: it may have been renewed, ended or claimed since.
    SELECT * INTO t FROM turns
    WHERE session = s.ref AND status = 'running' AND (owner IS NULL OR lease_until <= asked) FOR UPDATE SKIP LOCKED;
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
    SELECT * INTO t FROM turns WHERE session = s.ref AND status IN ('queued', 'running')
    ORDER BY status = 'running' DESC, no LIMIT 1;
    IF FOUND AND t.status = 'queued' THEN
      RETURN NEXT json_build_object('session_id', s.id, 'turn', claim_turn(t.ref, p_owner, p_lease_ms, 0));
    END IF;
  END LOOP;
END
$function$;

-- 0008-fault-claims.sql
CREATE OR REPLACE FUNCTION claim_faults(p_id text, p_owner text, p_claim_ms bigint)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
DECLARE
  s sessions;
  faults json;
BEGIN
  SELECT * INTO s FROM sessions WHERE id = p_id AND deleted_at IS NULL FOR UPDATE;
  IF NOT FOUND THEN
    RETURN json_build_object('shown', 0, 'faults', '[]'::json);
  END IF;
  IF s.faults_claimed_by IS NULL OR s.faults_claimed_by = p_owner OR s.faults_claimed_until <= clock_timestamp() THEN
    SELECT json_agg(json_build_object('n', e.n, 'text', e.text) ORDER BY e.n) INTO faults
    FROM system_events e WHERE e.session = s.ref AND e.n > s.faults_shown AND e.kind = 'SystemError';
    IF faults IS NOT NULL THEN
      UPDATE sessions SET
        faults_claimed_by = p_owner, faults_claimed_until = clock_timestamp() + p_claim_ms * interval '1 millisecond'
      WHERE ref = s.ref;
    END IF;
  END IF;
  RETURN json_build_object('shown', s.faults_shown, 'faults', coalesce(faults, '[]'::json));
END
$function$;

-- 0020-long-logs.sql
CREATE OR REPLACE FUNCTION claim_free_turns(p_owner text, p_lease_ms bigint, p_limit integer, p_lost_ids text[], p_lost_marks text[])
 RETURNS SETOF json
 LANGUAGE plpgsql
AS $function$
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
$function$;

-- 0016-wallet-requests.sql
CREATE OR REPLACE FUNCTION claim_system_faults(p_id text, p_owner text, p_claim_ms bigint, p_lost text)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
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
$function$;

-- 0021-fewer-statements.sql
CREATE OR REPLACE FUNCTION claim_turn(p_ref bigint, p_owner text, p_lease_ms bigint, p_losses integer)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
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
$function$;

-- 0011-lease-marks.sql
CREATE OR REPLACE FUNCTION claim_unshown_faults(p_id text, p_owner text, p_claim_ms bigint, p_lost text)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
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
  SELECT json_agg(json_build_object('n', e.n, 'text', e.text) ORDER BY e.n) INTO faults
  FROM system_events e WHERE e.session = s.ref AND e.n > s.faults_shown AND e.kind = 'SystemError';
  IF faults IS NOT NULL THEN
    UPDATE sessions SET
      faults_claimed_by = p_owner, faults_claimed_until = clock_timestamp() + p_claim_ms * interval '1 millisecond'
    WHERE ref = s.ref;
  END IF;
  RETURN json_build_object('shown', s.faults_shown, 'faults', coalesce(faults, '[]'::json), 'held', NULL);
END
$function$;

-- 0015-open-calls.sql
CREATE OR REPLACE FUNCTION close_call(p_call text, p_owner text, p_mark text, p_events text[], p_notices text[], p_at bigint)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
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
$function$;

-- 0016-wallet-requests.sql
CREATE OR REPLACE FUNCTION commit_session(s sessions, p_events text[], p_notices text[], p_at bigint)
 RETURNS sessions
 LANGUAGE plpgsql
AS $function$
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
$function$;

-- 0031-attempts.sql
CREATE OR REPLACE FUNCTION count_attempts(p_attempts json)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM FROM turns t JOIN sessions s ON s.ref = t.session
  WHERE t.id = ANY (ARRAY(SELECT a.turn FROM json_to_recordset(p_attempts) AS a (turn text)))
  ORDER BY t.session FOR UPDATE OF s, t;
  PERFORM add_uses((
    SELECT json_agg(u.use)
    FROM json_to_recordset(p_attempts) AS a (turn text, attempt integer, uses json)
    CROSS JOIN json_array_elements(a.uses) AS u (use)
    WHERE NOT EXISTS (
      SELECT FROM turns t WHERE t.id = a.turn AND t.attempt = a.attempt AND t.status NOT IN ('queued', 'running'))));
  UPDATE turns t SET
    input_tokens = t.input_tokens + used.input_tokens, output_tokens = t.output_tokens + used.output_tokens,
    shown_tokens = t.shown_tokens + used.shown_tokens
  FROM (
    SELECT t.ref, sum(a.input_tokens) AS input_tokens, sum(a.output_tokens) AS output_tokens,
      sum(a.shown_tokens) AS shown_tokens
    FROM json_to_recordset(p_attempts) AS a (
      turn text, attempt integer, input_tokens bigint, output_tokens bigint, shown_tokens bigint)
    JOIN turns t ON t.id = a.turn
    WHERE t.attempt <> a.attempt OR t.status IN ('queued', 'running')
    GROUP BY t.ref) AS used
  WHERE t.ref = used.ref;
END
$function$;

-- 0003-uses.sql
CREATE OR REPLACE FUNCTION count_quotas(p_quotas json, p_measure text)
 RETURNS void
 LANGUAGE sql
AS $function$
  SELECT add_uses((
    SELECT json_agg(json_build_object('subject', q.subject, 'measure', q.measure, 'window_from', q.window_from, 'amount', 1))
    FROM json_to_recordset(p_quotas) AS q (subject text, measure text, window_from bigint)
    WHERE p_measure IS NULL OR q.measure = p_measure))
$function$;

-- 0003-uses.sql
CREATE OR REPLACE FUNCTION count_request(p_quotas json)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
  exhausted integer := find_exhausted(p_quotas);
BEGIN
  IF exhausted IS NULL THEN
    PERFORM count_quotas(p_quotas, NULL);
  END IF;
  RETURN exhausted;
END
$function$;

-- 0013-secret-bounds.sql
CREATE OR REPLACE FUNCTION count_secrets_added()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO secret_apps AS a (app, secrets, bytes)
  SELECT app, count(*), sum(secret_bytes(name, sealed)) FROM added GROUP BY app ORDER BY app
  ON CONFLICT (app) DO UPDATE SET secrets = a.secrets + EXCLUDED.secrets, bytes = a.bytes + EXCLUDED.bytes;
  RETURN NULL;
END
$function$;

-- 0013-secret-bounds.sql
CREATE OR REPLACE FUNCTION count_secrets_removed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO secret_apps AS a (app, secrets, bytes)
  SELECT app, -count(*), -sum(secret_bytes(name, sealed)) FROM removed GROUP BY app ORDER BY app
  ON CONFLICT (app) DO UPDATE SET secrets = a.secrets + EXCLUDED.secrets, bytes = a.bytes + EXCLUDED.bytes;
  RETURN NULL;
END
$function$;

-- 0013-secret-bounds.sql
CREATE OR REPLACE FUNCTION count_secrets_replaced()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO secret_apps AS a (app, secrets, bytes)
  SELECT app, 0, sum(bytes) FROM (
    SELECT app, secret_bytes(name, sealed) AS bytes FROM after
    UNION ALL SELECT app, -secret_bytes(name, sealed) FROM before
  ) AS changes GROUP BY app HAVING sum(bytes) <> 0 ORDER BY app
  ON CONFLICT (app) DO UPDATE SET bytes = a.bytes + EXCLUDED.bytes;
  RETURN NULL;
END
$function$;

-- 0002-sessions.sql
CREATE OR REPLACE FUNCTION delete_session(p_id text, p_at bigint)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
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
$function$;

-- 0031-attempts.sql
CREATE OR REPLACE FUNCTION end_turn(p_session text, p_turn text, p_owner text, p_attempt integer, p_outcome text, p_error text, p_rig text, p_input_tokens bigint, p_output_tokens bigint, p_shown_tokens bigint, p_uses json, p_messages json, p_events text[], p_notices text[], p_next_owner text, p_lease_ms bigint, p_at bigint)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
DECLARE
  s sessions;
  t turns;
  head bigint;
  claimed json;
BEGIN
  SELECT * INTO s FROM sessions WHERE id = p_session AND deleted_at IS NULL FOR UPDATE;
  UPDATE turns SET
    status = p_outcome, ended_at = p_at, error = p_error, rig = p_rig, input_tokens = input_tokens + p_input_tokens,
    output_tokens = output_tokens + p_output_tokens, shown_tokens = shown_tokens + p_shown_tokens, owner = NULL,
    lease_until = '-infinity', partial_text = ''
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
$function$;

-- 0016-wallet-requests.sql
CREATE OR REPLACE FUNCTION expire_wallet_requests(p_now bigint, p_limit integer)
 RETURNS SETOF json
 LANGUAGE plpgsql
AS $function$
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
$function$;

-- 0033-refused-uses.sql
CREATE OR REPLACE FUNCTION find_exhausted(p_quotas json)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
  exhausted integer := read_exhausted(p_quotas);
BEGIN
  IF p_quotas IS NULL OR exhausted IS NOT NULL THEN
    RETURN exhausted;
  END IF;
  PERFORM add_uses((
    SELECT json_agg(json_build_object('subject', q.subject, 'measure', q.measure, 'window_from', q.window_from, 'amount', 0))
    FROM json_to_recordset(p_quotas) AS q (subject text, measure text, window_from bigint)));
  RETURN read_exhausted(p_quotas);
END
$function$;

-- 0034-keys-of-reports.sql
CREATE OR REPLACE FUNCTION insert_turn(s sessions, p_turn text, p_message text, p_text text, p_origin text, p_app text, p_client text, p_status text, p_at bigint)
 RETURNS turns
 LANGUAGE plpgsql
AS $function$
DECLARE
  t turns;
BEGIN
  INSERT INTO turns (id, session, no, app, client_id, key_id, status, created_at, ended_at)
  VALUES (
    p_turn, s.ref, s.last_turn_no, p_app, p_client,
    CASE WHEN p_status = 'queued' THEN (
      SELECT key_id FROM turns WHERE session = s.ref AND app = p_app AND key_id IS NOT NULL ORDER BY no DESC LIMIT 1) END,
    p_status, p_at, CASE WHEN p_status = 'complete' THEN p_at END)
  RETURNING * INTO t;
  INSERT INTO messages (id, session, turn_no, turn_id, position, role, content, created_at, origin)
  VALUES (p_message, s.ref, t.no, t.id, 0, 'system', p_text, p_at, p_origin);
  RETURN t;
END
$function$;

-- 0004-turns.sql
CREATE OR REPLACE FUNCTION interrupt_turns(p_session text, p_at bigint)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
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
$function$;

-- 0011-lease-marks.sql
CREATE OR REPLACE FUNCTION lease_mark(p_attempt integer, p_until timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  SELECT p_attempt || ':' || extract(epoch FROM p_until)
$function$;

-- 0020-long-logs.sql
CREATE OR REPLACE FUNCTION list_long_log()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO long_logs (session, oldest_at) VALUES (NEW.ref, 0)
  ON CONFLICT (session) DO UPDATE SET oldest_at = long_logs.oldest_at;
  RETURN NULL;
END
$function$;

-- 0015-open-calls.sql
CREATE OR REPLACE FUNCTION log_call(p_call text, p_owner text, p_events text[], p_notices text[], p_at bigint)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
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
$function$;

-- 0021-fewer-statements.sql
CREATE OR REPLACE FUNCTION make_session(p_id text, p_title text, p_at bigint)
 RETURNS SETOF sessions
 LANGUAGE plpgsql
AS $function$
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
$function$;

-- 0012-thread-size.sql
CREATE OR REPLACE FUNCTION message_bytes(m messages)
 RETURNS integer
 LANGUAGE sql
 STABLE
AS $function$
  SELECT octet_length(m.content) + coalesce(octet_length(m.tool_calls::text), 0) + coalesce(octet_length(m.tool_results::text), 0)
$function$;

-- 0012-thread-size.sql
CREATE OR REPLACE FUNCTION message_shown(m messages)
 RETURNS integer
 LANGUAGE sql
 STABLE
AS $function$
  SELECT (m.content <> '' OR m.role <> 'assistant')::integer + coalesce(json_array_length(m.tool_results), 0)
$function$;

-- 0015-open-calls.sql
CREATE OR REPLACE FUNCTION open_call(p_id text, p_call text, p_tool text, p_owner text, p_lease_ms bigint, p_events text[], p_notices text[], p_at bigint)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
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
$function$;

-- 0016-wallet-requests.sql
CREATE OR REPLACE FUNCTION over_daily(p_session bigint, p_ids bigint[], p_since bigint, p_most json)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
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
$function$;

-- 0016-wallet-requests.sql
CREATE OR REPLACE FUNCTION pending_of(p_session bigint)
 RETURNS json
 LANGUAGE sql
 STABLE
AS $function$
  SELECT json_agg(
    json_build_object(
      'id', r.id, 'app', r.app, 'wallet', r.wallet, 'chainId', r.chain_id, 'label', r.label, 'payload', r.payload,
      'expiresAt', r.expires_at)
    ORDER BY r.id)
  FROM wallet_requests r WHERE r.session = p_session AND r.state = 'pending'
$function$;

-- 0019-operations.sql
CREATE OR REPLACE FUNCTION prune_activity(p_before bigint, p_limit integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
  minutes integer;
  failed integer;
BEGIN
  DELETE FROM activity WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM activity WHERE at < p_before ORDER BY at LIMIT p_limit FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS minutes = ROW_COUNT;
  DELETE FROM failures WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM failures WHERE at < p_before ORDER BY at LIMIT p_limit FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS failed = ROW_COUNT;
  RETURN greatest(minutes, failed);
END
$function$;

-- 0016-wallet-requests.sql
CREATE OR REPLACE FUNCTION prune_events(p_after bigint, p_kept bigint, p_since bigint, p_limit integer, OUT pruned bigint, OUT done boolean)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
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
$function$;

-- 0006-prune.sql
CREATE OR REPLACE FUNCTION prune_keys(p_before bigint, p_limit integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
  removed integer;
BEGIN
  DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM idempotency_keys WHERE created_at < p_before ORDER BY created_at LIMIT p_limit FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END
$function$;

-- 0013-secret-bounds.sql
CREATE OR REPLACE FUNCTION prune_secrets(p_before bigint, p_limit integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
  removed integer;
BEGIN
  DELETE FROM secrets WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM secrets WHERE greatest(used_at, created_at) < p_before
    ORDER BY greatest(used_at, created_at) LIMIT p_limit FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END
$function$;

-- 0020-long-logs.sql
CREATE OR REPLACE FUNCTION prune_threads(p_before bigint, p_at bigint, p_limit integer)
 RETURNS SETOF text
 LANGUAGE plpgsql
AS $function$
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
$function$;

-- 0006-prune.sql
CREATE OR REPLACE FUNCTION prune_uses(p_before bigint, p_limit integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
  removed integer;
BEGIN
  DELETE FROM uses WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM uses WHERE window_from < p_before ORDER BY window_from LIMIT p_limit FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END
$function$;

-- 0016-wallet-requests.sql
CREATE OR REPLACE FUNCTION put_messages(t turns, p_messages json)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
$function$;

-- 0013-secret-bounds.sql
CREATE OR REPLACE FUNCTION put_secrets(p_client text, p_secrets json, p_max_names integer, p_max_client bigint, p_max_app bigint, p_at bigint)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
DECLARE
  bytes_before bigint;
  bytes_after bigint;
  exceeded text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(p_client, 0));
  bytes_before := (SELECT coalesce(sum(secret_bytes(name, sealed)), 0) FROM secrets WHERE client = p_client);
  INSERT INTO secrets AS s (client, app, name, key_id, sealed, created_at)
  SELECT p_client, r.app, r.name, r.key_id, r.sealed, p_at
  FROM json_to_recordset(p_secrets) AS r (app text, name text, key_id text, sealed text)
  ORDER BY r.app COLLATE "C", r.name COLLATE "C"
  ON CONFLICT (client, app, name) DO UPDATE SET
    key_id = EXCLUDED.key_id, sealed = EXCLUDED.sealed, created_at = EXCLUDED.created_at;
  bytes_after := (SELECT coalesce(sum(secret_bytes(name, sealed)), 0) FROM secrets WHERE client = p_client);
  exceeded := CASE
    WHEN EXISTS (SELECT FROM secrets WHERE client = p_client GROUP BY app HAVING count(*) > p_max_names) THEN 'names'
    WHEN bytes_after <= bytes_before THEN NULL
    WHEN bytes_after > p_max_client THEN 'client'
    WHEN EXISTS (
      SELECT FROM secret_apps a
      WHERE a.bytes > p_max_app AND a.app IN (SELECT r.app FROM json_to_recordset(p_secrets) AS r (app text))) THEN 'app'
  END;
  IF exceeded IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'DS001', MESSAGE = exceeded;
  END IF;
  RETURN 'stored';
EXCEPTION WHEN SQLSTATE 'DS001' THEN
  RETURN SQLERRM;
END
$function$;

-- 0033-refused-uses.sql
CREATE OR REPLACE FUNCTION read_exhausted(p_quotas json)
 RETURNS integer
 LANGUAGE sql
 STABLE
AS $function$
  SELECT q.n FROM json_to_recordset(p_quotas) AS q (n integer, subject text, measure text, window_from bigint, bound bigint)
  JOIN uses u ON (u.subject, u.measure, u.window_from) = (q.subject, q.measure, q.window_from)
  WHERE u.amount >= q.bound ORDER BY q.n LIMIT 1
$function$;

-- 0026-repeated-progress.sql
CREATE OR REPLACE FUNCTION repeat_progress(p_session text, p_turn text, p_owner text, p_attempt integer, p_messages json, p_events text[], p_notices text[], p_partial_text text, p_at bigint, p_partial_since bigint, p_after bigint)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
DECLARE
  s sessions;
  logged bigint;
BEGIN
  SELECT * INTO s FROM sessions WHERE id = p_session AND deleted_at IS NULL FOR UPDATE;
  IF EXISTS (SELECT FROM turns WHERE id = p_turn AND session = s.ref AND status = 'running' AND owner = p_owner
      AND attempt = p_attempt) THEN
    SELECT id INTO logged FROM events WHERE session = s.ref AND id > p_after AND body::text = p_events[1] ORDER BY id LIMIT 1;
  END IF;
  IF logged IS NOT NULL THEN
    RETURN json_build_object('revision', s.revision, 'last_event_id', logged + cardinality(p_events) - 1);
  END IF;
  RETURN save_progress(p_session, p_turn, p_owner, p_attempt, p_messages, p_events, p_notices, p_partial_text, p_at,
    p_partial_since);
END
$function$;

-- 0016-wallet-requests.sql
CREATE OR REPLACE FUNCTION report_wallet_outcome(p_session text, p_ids bigint[], p_state text, p_claim text, p_proof text, p_turn text, p_message text, p_text text, p_app text, p_client text, p_owner text, p_lease_ms bigint, p_at bigint)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
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
$function$;

-- 0016-wallet-requests.sql
CREATE OR REPLACE FUNCTION request_wallet(p_session text, p_ids bigint[], p_event text, p_since bigint, p_most json, p_expires_at bigint, p_at bigint, p_max_bytes bigint)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
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
$function$;

-- 0035-wallet-of-left-turns.sql
CREATE OR REPLACE FUNCTION request_wallet_for(p_session text, p_ids bigint[], p_event text, p_since bigint, p_most json, p_expires_at bigint, p_at bigint, p_max_bytes bigint, p_turn text, p_owner text, p_attempt integer)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
BEGIN
  -- Interrupts lock the session, too: whichever comes second sees what the first has done.
  PERFORM 1 FROM sessions WHERE id = p_session AND deleted_at IS NULL FOR UPDATE;
  IF p_turn IS NOT NULL AND NOT EXISTS (
    SELECT FROM turns
    WHERE id = p_turn AND status = 'running' AND owner = p_owner AND attempt = p_attempt AND NOT cancel_requested
  ) THEN
    RETURN json_build_object('kind', 'left');
  END IF;
  RETURN request_wallet(p_session, p_ids, p_event, p_since, p_most, p_expires_at, p_at, p_max_bytes);
END
$function$;

-- 0016-wallet-requests.sql
CREATE OR REPLACE FUNCTION requests_json(p_session bigint, p_ids bigint[])
 RETURNS json
 LANGUAGE sql
 STABLE
AS $function$
  SELECT coalesce(json_agg(row_to_json(r) ORDER BY array_position(p_ids, r.id)), '[]')
  FROM wallet_requests r WHERE r.session = p_session AND r.id = ANY (p_ids)
$function$;

-- 0014-partial-since.sql
CREATE OR REPLACE FUNCTION save_progress(p_session text, p_turn text, p_owner text, p_attempt integer, p_messages json, p_events text[], p_notices text[], p_partial_text text, p_at bigint, p_partial_since bigint DEFAULT 0)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
DECLARE
  s sessions;
  t turns;
BEGIN
  SELECT * INTO s FROM sessions WHERE id = p_session AND deleted_at IS NULL FOR UPDATE;
  UPDATE turns SET partial_text = coalesce(p_partial_text, partial_text),
    partial_attempt = CASE WHEN p_partial_text IS NULL THEN partial_attempt ELSE p_attempt END,
    partial_since = CASE WHEN p_partial_text IS NULL THEN partial_since ELSE p_partial_since END
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
$function$;

-- 0023-new-sessions.sql
CREATE OR REPLACE FUNCTION save_session(p_id text, p_create boolean, p_if_version bigint, p_title text, p_fields json, p_state text, p_events text[], p_notices text[], p_is_activity boolean, p_at bigint)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
DECLARE
  s sessions;
  changed sessions;
  live boolean;
  moved boolean;
  -- A new session is then one insert.
  is_plain boolean := p_fields::text = '{}' AND p_state IS NULL AND cardinality(p_events) = 0;
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
    IF s.ref IS NULL AND is_plain THEN
      INSERT INTO sessions (id, title, title_source, created_at, active_at, revision, version)
      VALUES (p_id, p_title, 'placeholder', p_at, p_at, 1, 1)
      ON CONFLICT (id) DO NOTHING
      RETURNING * INTO s;
      IF FOUND THEN
        RETURN json_build_object('kind', 'saved', 'created', true, 'session', row_to_json(s));
      END IF;
      CONTINUE;
    END IF;
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
$function$;

-- 0013-secret-bounds.sql
CREATE OR REPLACE FUNCTION secret_bytes(p_name text, p_sealed text)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT 200 + octet_length(p_name) + octet_length(p_sealed)
$function$;

-- 0016-wallet-requests.sql
CREATE OR REPLACE FUNCTION stage_wallet_request(p_session text, p_call text, p_app text, p_wallet text, p_chain bigint, p_label text, p_kind text, p_payload text, p_value text, p_sound boolean, p_staged_at bigint, p_expires_at bigint, p_max_open integer, p_max_bytes integer)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
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
$function$;

-- 0036-turns-of-deleted.sql
CREATE OR REPLACE FUNCTION sweep_buried(p_limit integer)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
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
$function$;

-- 0005-leases.sql
CREATE OR REPLACE FUNCTION take_over(p_turn text, p_owner text, p_lease_ms bigint)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
DECLARE
  s sessions;
  t turns;
BEGIN
  SELECT * INTO s FROM sessions WHERE ref = (SELECT session FROM turns WHERE id = p_turn) FOR UPDATE;
  SELECT * INTO t FROM turns WHERE id = p_turn AND session = s.ref AND status = 'running';
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  RETURN json_build_object('session_id', s.id, 'turn', claim_turn(t.ref, p_owner, p_lease_ms, 0));
END
$function$;

-- 0020-long-logs.sql
CREATE OR REPLACE FUNCTION trim_log(p_kept bigint, p_since bigint, p_limit integer)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
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
$function$;

-- 0014-partial-since.sql
CREATE OR REPLACE FUNCTION turn_json(t turns)
 RETURNS json
 LANGUAGE sql
 STABLE
AS $function$
  SELECT json_build_object(
    'id', t.id, 'no', t.no, 'app', t.app, 'client_id', t.client_id, 'key_id', t.key_id, 'status', t.status, 'attempt', t.attempt,
    'losses', t.losses, 'owner', t.owner, 'cancel_requested', t.cancel_requested, 'created_at', t.created_at,
    'error', t.error, 'partial_text', t.partial_text, 'partial_since', t.partial_since)
$function$;

-- 0030-found-later.sql
CREATE OR REPLACE FUNCTION verify_wallet_request(p_session text, p_id bigint, p_turn text, p_verdict text, p_verification text, p_taken_verdict text, p_taken text)
 RETURNS json
 LANGUAGE plpgsql
AS $function$
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
  IF r.state = 'reported' OR r.state = 'not_found' AND p_verdict <> 'not_found' THEN
    IF p_verdict = 'confirmed' AND r.kind = 'transaction' AND r.proof IS NOT NULL THEN
      PERFORM pg_advisory_xact_lock(hashtextextended(concat_ws(' ', r.chain_id, r.proof), 2));
      taken := EXISTS (
        SELECT FROM wallet_requests o JOIN sessions l ON l.ref = o.session
        WHERE o.chain_id = r.chain_id AND o.proof = r.proof AND o.state = 'confirmed')
        OR EXISTS (SELECT FROM past_transactions WHERE chain_id = r.chain_id AND proof = r.proof);
    END IF;
    UPDATE wallet_requests SET
      state = CASE WHEN taken THEN p_taken_verdict ELSE p_verdict END,
      verification = (CASE WHEN taken THEN p_taken ELSE p_verification END)::json
    WHERE session = s.ref AND id = p_id
    RETURNING * INTO r;
  END IF;
  RETURN row_to_json(r);
END
$function$;

-- 0027-past-transactions.sql
CREATE OR REPLACE FUNCTION wallet_value_since(p_app text, p_wallet text, p_chain bigint, p_since bigint)
 RETURNS numeric
 LANGUAGE sql
 STABLE
AS $function$
  SELECT coalesce(sum(value::numeric), 0) FROM (
    SELECT r.value FROM wallet_requests r JOIN sessions s ON s.ref = r.session
    WHERE r.app = p_app AND r.wallet = p_wallet AND r.chain_id = p_chain AND r.requested_at >= p_since
      AND r.state <> 'rejected'
    UNION ALL
    SELECT value FROM past_transactions
    WHERE app = p_app AND wallet = p_wallet AND chain_id = p_chain AND requested_at >= p_since
  ) AS requested
$function$;

-- 0016-wallet-requests.sql
CREATE OR REPLACE FUNCTION with_fields(s sessions, p_fields json, p_state text)
 RETURNS sessions
 LANGUAGE plpgsql
AS $function$
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
$function$;

-- 0025-replaced-records.sql
CREATE OR REPLACE FUNCTION with_messages(s sessions, t turns, p_messages json)
 RETURNS sessions
 LANGUAGE plpgsql
AS $function$
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
    SELECT coalesce(sum(message_bytes(r.m)) FILTER (WHERE (r.m).session = s.ref), 0) AS bytes,
      coalesce(sum(message_shown(r.m)) FILTER (WHERE (r.m).session = s.ref), 0) AS shown
    FROM given CROSS JOIN LATERAL (SELECT m FROM messages m WHERE m.id = given.id OFFSET 0) AS r
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
$function$;

-- 0016-wallet-requests.sql
CREATE OR REPLACE FUNCTION with_turn(s sessions, p_text text, p_at bigint)
 RETURNS sessions
 LANGUAGE plpgsql
AS $function$
BEGIN
  s.active_at := greatest(s.active_at, p_at);
  s.last_turn_no := s.last_turn_no + 1;
  s.text_bytes := s.text_bytes + octet_length(p_text);
  s.shown_messages := s.shown_messages + 1;
  RETURN s;
END
$function$;
