-- Rows refer to each other by integer keys; each row stores its public id once, in a unique index that compares bytes.
-- Times are milliseconds since the epoch, except those of leases, which are timestamps of the database's clock.
-- There are no foreign keys: a deleted session gets a new ref, so that the rows that refer to the old one are
-- unreachable at once and can be removed in batches.

CREATE SEQUENCE session_refs;

CREATE TABLE sessions (
  ref bigint PRIMARY KEY DEFAULT nextval('session_refs'),
  id text COLLATE "C" NOT NULL UNIQUE,
  title text NOT NULL,
  title_source text NOT NULL CHECK (title_source IN ('placeholder', 'automatic', 'person')),
  wallet text COLLATE "C",
  rig text,
  client text, -- digest of the bound client's id
  app text,
  user_state json, -- {tree, flat}
  interrupted boolean NOT NULL DEFAULT false,
  created_at bigint NOT NULL,
  active_at bigint NOT NULL,
  revision bigint NOT NULL DEFAULT 0,
  version bigint NOT NULL DEFAULT 0,
  last_event_id bigint NOT NULL DEFAULT 0,
  last_turn_no bigint NOT NULL DEFAULT 0,
  last_system_no bigint NOT NULL DEFAULT 0,
  faults_shown bigint NOT NULL DEFAULT 0, -- highest system_events.n that a snapshot has delivered
  deleted_at bigint -- set on a tombstone, of which only the counters are valid
) WITH (fillfactor = 80);

-- Lists the threads of a wallet, newest activity first.
CREATE INDEX threads_of_wallet ON sessions (wallet, active_at, id) WHERE deleted_at IS NULL AND wallet IS NOT NULL;
-- Lists all threads in that order; finds threads to prune.
CREATE INDEX threads_by_activity ON sessions (active_at, id) WHERE deleted_at IS NULL;

-- No index contains a column that a checkpoint or a lease renewal changes, so that these are heap-only (HOT) updates.
CREATE TABLE turns (
  ref bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  id text COLLATE "C" NOT NULL UNIQUE,
  session bigint NOT NULL,
  no bigint NOT NULL,
  app text NOT NULL,
  client_id text,
  key_id text,
  status text NOT NULL CHECK (status IN ('queued', 'running', 'complete', 'interrupted', 'failed')),
  attempt integer NOT NULL DEFAULT 0,
  losses integer NOT NULL DEFAULT 0,
  owner text, -- NULL: released, or never claimed
  lease_until timestamptz NOT NULL DEFAULT '-infinity',
  cancel_requested boolean NOT NULL DEFAULT false,
  rig text,
  input_tokens bigint NOT NULL DEFAULT 0,
  output_tokens bigint NOT NULL DEFAULT 0,
  shown_tokens bigint NOT NULL DEFAULT 0,
  created_at bigint NOT NULL,
  ended_at bigint,
  error text,
  partial_text text NOT NULL DEFAULT '',
  UNIQUE (session, no)
) WITH (fillfactor = 70);

-- Finds the running turn of a session, and all running turns. Unique: a session has at most one.
CREATE UNIQUE INDEX running_turn ON turns (session) WHERE status = 'running';
-- Finds the queue of a session, and all queued turns.
CREATE INDEX queued_turns ON turns (session, no) WHERE status = 'queued';

CREATE TABLE messages (
  id text COLLATE "C" PRIMARY KEY,
  session bigint NOT NULL,
  turn_no bigint NOT NULL,
  turn_id text NOT NULL,
  position integer NOT NULL,
  role text NOT NULL CHECK (role IN ('user', 'assistant', 'system')),
  content text NOT NULL,
  tool_calls json,
  tool_results json,
  created_at bigint NOT NULL,
  UNIQUE (session, turn_no, position)
);

CREATE TABLE events (
  session bigint NOT NULL,
  id bigint NOT NULL,
  at bigint NOT NULL,
  body json NOT NULL,
  PRIMARY KEY (session, id)
);

CREATE TABLE system_events (
  session bigint NOT NULL,
  n bigint NOT NULL,
  at bigint NOT NULL,
  kind text NOT NULL CHECK (kind IN ('SystemError', 'SystemNotice')),
  text text NOT NULL,
  PRIMARY KEY (session, n)
);

CREATE TABLE idempotency_keys (
  session bigint NOT NULL,
  key text NOT NULL,
  fingerprint text NOT NULL,
  turn_id text NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (session, key)
);

-- Finds keys to prune.
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

-- Former refs of deleted sessions whose rows are not removed yet.
CREATE TABLE buried (session bigint PRIMARY KEY);

CREATE TABLE app_keys (
  id text COLLATE "C" PRIMARY KEY,
  digest text NOT NULL UNIQUE,
  apps json NOT NULL,
  label text NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint,
  revoked_at bigint
);

-- Encrypted secrets of clients. key_id identifies the encryption key.
CREATE TABLE secrets (
  client text NOT NULL, -- digest of the client's id
  app text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  key_id text NOT NULL,
  sealed text NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (client, app, name)
);

-- Finds secrets that a key rotation still has to re-encrypt.
CREATE INDEX secrets_by_key ON secrets (key_id);

-- The amount of a measure that a subject has used in a time window.
CREATE TABLE uses (
  subject text COLLATE "C" NOT NULL,
  measure text COLLATE "C" NOT NULL,
  window_from bigint NOT NULL,
  amount bigint NOT NULL,
  PRIMARY KEY (subject, measure, window_from)
) WITH (fillfactor = 70);

-- Finds windows to prune.
CREATE INDEX uses_by_window ON uses (window_from);

-- Health checks write to this table.
CREATE TABLE probe (
  id integer PRIMARY KEY CHECK (id = 1),
  at bigint NOT NULL
);
