-- Rows refer to each other by integer keys; each row stores its public UUID once, with a unique index.
-- Times are milliseconds since the epoch. The comment on each index names the queries that it serves.

CREATE TABLE sessions (
  ref INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL,
  title_source TEXT NOT NULL CHECK (title_source IN ('placeholder', 'automatic', 'person')),
  wallet TEXT,
  rig TEXT,
  client TEXT, -- digest of the bound client's id
  app TEXT,
  user_state TEXT, -- JSON {tree, flat}
  interrupted INTEGER NOT NULL CHECK (interrupted IN (0, 1)),
  created_at INTEGER NOT NULL,
  active_at INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  version INTEGER NOT NULL,
  last_event_id INTEGER NOT NULL,
  last_turn_no INTEGER NOT NULL,
  last_system_no INTEGER NOT NULL,
  faults_shown INTEGER NOT NULL, -- highest system_events.n that a snapshot has delivered
  incarnation INTEGER NOT NULL, -- number of deletions
  deleted_at INTEGER -- set on a tombstone, of which only the counters are valid
) STRICT;

-- Lists the threads of a wallet, newest activity first.
CREATE INDEX threads_of_wallet ON sessions (wallet, active_at, id) WHERE deleted_at IS NULL;
-- Lists all threads in that order; finds threads to prune.
CREATE INDEX threads_by_activity ON sessions (active_at, id) WHERE deleted_at IS NULL;

CREATE TABLE turns (
  ref INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  session INTEGER NOT NULL REFERENCES sessions (ref),
  no INTEGER NOT NULL,
  app TEXT NOT NULL,
  client_id TEXT,
  key_id TEXT,
  status TEXT NOT NULL CHECK (status IN ('queued', 'running', 'complete', 'interrupted', 'failed')),
  attempt INTEGER NOT NULL,
  losses INTEGER NOT NULL,
  owner TEXT, -- NULL: released, or never claimed
  lease_until INTEGER NOT NULL,
  cancel_requested INTEGER NOT NULL CHECK (cancel_requested IN (0, 1)),
  rig TEXT,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  shown_tokens INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  ended_at INTEGER,
  error TEXT,
  partial_text TEXT NOT NULL,
  UNIQUE (session, no)
) STRICT;

-- Finds the running turn of a session, and all running turns. Unique: a session has at most one.
CREATE UNIQUE INDEX running_turn ON turns (session) WHERE status = 'running';
-- Finds the queue of a session, and all queued turns.
CREATE INDEX queued_turns ON turns (session, no) WHERE status = 'queued';

CREATE TABLE messages (
  ref INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  session INTEGER NOT NULL REFERENCES sessions (ref),
  turn_no INTEGER NOT NULL,
  position INTEGER NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'system')),
  content TEXT NOT NULL,
  tool_calls TEXT, -- JSON
  tool_results TEXT, -- JSON
  created_at INTEGER NOT NULL,
  UNIQUE (session, turn_no, position)
) STRICT;

CREATE TABLE events (
  session INTEGER NOT NULL REFERENCES sessions (ref),
  id INTEGER NOT NULL,
  at INTEGER NOT NULL,
  body TEXT NOT NULL, -- JSON
  PRIMARY KEY (session, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE system_events (
  session INTEGER NOT NULL REFERENCES sessions (ref),
  n INTEGER NOT NULL,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('SystemError', 'SystemNotice')),
  text TEXT NOT NULL,
  PRIMARY KEY (session, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency_keys (
  session INTEGER NOT NULL REFERENCES sessions (ref),
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  turn_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (session, key)
) STRICT, WITHOUT ROWID;

-- Finds keys to prune.
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

CREATE TABLE app_keys (
  id TEXT PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  apps TEXT NOT NULL, -- JSON
  label TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;

-- Health checks write to this table.
CREATE TABLE probe (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  at INTEGER NOT NULL
) STRICT;

-- Encrypted secrets of clients. key_id identifies the encryption key.
CREATE TABLE secrets (
  client TEXT NOT NULL, -- digest of the client's id
  app TEXT NOT NULL,
  name TEXT NOT NULL,
  key_id TEXT NOT NULL,
  sealed TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (client, app, name)
) STRICT, WITHOUT ROWID;

-- Finds secrets that a key rotation still has to re-encrypt.
CREATE INDEX secrets_by_key ON secrets (key_id);

-- The amount of a measure that a subject has used in a time window.
CREATE TABLE uses (
  subject TEXT NOT NULL,
  measure TEXT NOT NULL,
  window_from INTEGER NOT NULL,
  amount INTEGER NOT NULL,
  PRIMARY KEY (subject, measure, window_from)
) STRICT, WITHOUT ROWID;

-- Finds windows to prune.
CREATE INDEX uses_by_window ON uses (window_from);
