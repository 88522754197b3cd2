-- Integers name rows inside the database; the UUIDs that the world knows stand once per row, in one index.
-- Times are milliseconds since the epoch. Each index serves one access path, named beside it.

CREATE TABLE sessions (
  ref INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL,
  title_source TEXT NOT NULL CHECK (title_source IN ('placeholder', 'automatic', 'person')),
  wallet TEXT,
  rig TEXT,
  client TEXT, -- the digest of the bound client's id
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
  faults_shown INTEGER NOT NULL, -- system_events.n up to which snapshots have carried the errors
  incarnation INTEGER NOT NULL, -- grows by one with every deletion
  deleted_at INTEGER -- a tombstone: only the counters still mean something
) STRICT;

-- The threads of a wallet, newest activity first.
CREATE INDEX threads_of_wallet ON sessions (wallet, active_at, id) WHERE deleted_at IS NULL;
-- All threads in that order; threads to prune.
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
  owner TEXT, -- NULL: given up, or never claimed
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

-- The running turn of a session, of which there is at most one; all running turns.
CREATE UNIQUE INDEX running_turn ON turns (session) WHERE status = 'running';
-- The queue of a session; all queued turns.
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

-- Keys to prune.
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

-- Written to by health checks.
CREATE TABLE probe (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  at INTEGER NOT NULL
) STRICT;

-- Secrets of clients, encrypted: the row says which key opens it.
CREATE TABLE secrets (
  client TEXT NOT NULL, -- the digest of the client's id
  app TEXT NOT NULL,
  name TEXT NOT NULL,
  key_id TEXT NOT NULL,
  sealed TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (client, app, name)
) STRICT, WITHOUT ROWID;

-- What a rotation of keys still has to do.
CREATE INDEX secrets_by_key ON secrets (key_id);

-- How much of a measure a subject has used in a window of time.
CREATE TABLE uses (
  subject TEXT NOT NULL,
  measure TEXT NOT NULL,
  window_from INTEGER NOT NULL,
  amount INTEGER NOT NULL,
  PRIMARY KEY (subject, measure, window_from)
) STRICT, WITHOUT ROWID;

-- Windows that are over.
CREATE INDEX uses_by_window ON uses (window_from);
