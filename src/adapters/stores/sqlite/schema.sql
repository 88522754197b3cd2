-- The schema after all migrations, for readers: the service runs only the files in migrations/, where comments say
-- what each column is for. `npm run schema` writes this file, and a test compares it with what the migrations make.

CREATE TABLE activity (
  at INTEGER NOT NULL,
  node TEXT NOT NULL,
  complete INTEGER NOT NULL,
  interrupted INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  first_text TEXT NOT NULL,
  duration TEXT NOT NULL,
  PRIMARY KEY (at, node)
) STRICT, WITHOUT ROWID;

CREATE TABLE app_keys (
  id TEXT PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  apps TEXT NOT NULL, -- JSON
  label TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
  session INTEGER NOT NULL REFERENCES sessions (ref),
  id INTEGER NOT NULL,
  at INTEGER NOT NULL,
  body TEXT NOT NULL, -- JSON
  PRIMARY KEY (session, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE failures (
  at INTEGER NOT NULL,
  turn_id TEXT NOT NULL,
  of_session TEXT NOT NULL,
  app TEXT NOT NULL,
  rig TEXT,
  reason TEXT,
  PRIMARY KEY (at, turn_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency_keys (
  session INTEGER NOT NULL REFERENCES sessions (ref),
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  turn_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (session, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE long_logs (
  session INTEGER PRIMARY KEY REFERENCES sessions (ref),
  oldest_at INTEGER NOT NULL
) STRICT;

CREATE TABLE messages (
  ref INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  session INTEGER NOT NULL REFERENCES sessions (ref),
  turn_no INTEGER NOT NULL,
  position INTEGER NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('user', 'assistant') OR role = 'system'),
  content TEXT NOT NULL,
  tool_calls TEXT, -- JSON
  tool_results TEXT, -- JSON
  created_at INTEGER NOT NULL
  , origin TEXT,
  UNIQUE (session, turn_no, position)
) STRICT;

CREATE TABLE notices (
  name TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  claimed_until INTEGER NOT NULL,
  delivered_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE open_calls (
  call_id TEXT PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions (ref),
  tool_name TEXT NOT NULL,
  owner TEXT NOT NULL,
  lease_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE past_transactions (
  of_session TEXT NOT NULL, -- the id of the deleted session
  id INTEGER NOT NULL,
  app TEXT NOT NULL,
  wallet TEXT NOT NULL,
  chain_id INTEGER NOT NULL,
  value TEXT NOT NULL, -- in wei, a decimal number of any length
  requested_at INTEGER NOT NULL,
  proof TEXT, -- the hash of the transaction that has confirmed it; NULL: none has
  PRIMARY KEY (of_session, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE probe (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  at INTEGER NOT NULL
) STRICT;

CREATE TABLE secret_apps (
  app TEXT PRIMARY KEY,
  secrets INTEGER NOT NULL,
  bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE secrets (
  client TEXT NOT NULL, -- digest of the client's id
  app TEXT NOT NULL,
  name TEXT NOT NULL,
  key_id TEXT NOT NULL,
  sealed TEXT NOT NULL,
  created_at INTEGER NOT NULL
  , used_at INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (client, app, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  ref INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL,
  title_source TEXT NOT NULL CHECK (title_source IN ('placeholder', 'automatic') OR title_source = 'person'),
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
  , faults_claimed_by TEXT
  , faults_claimed_until INTEGER
  , text_bytes INTEGER NOT NULL DEFAULT 0
  , shown_messages INTEGER NOT NULL DEFAULT 0
  , archived INTEGER NOT NULL DEFAULT 0
  , pending TEXT
  , last_wallet_no INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE TABLE system_events (
  session INTEGER NOT NULL REFERENCES sessions (ref),
  n INTEGER NOT NULL,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('SystemError', 'SystemNotice') OR kind = 'InlineCall'),
  text TEXT NOT NULL,
  PRIMARY KEY (session, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE turns (
  ref INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  session INTEGER NOT NULL REFERENCES sessions (ref),
  no INTEGER NOT NULL,
  app TEXT NOT NULL,
  client_id TEXT,
  key_id TEXT,
  status TEXT NOT NULL CHECK (status IN ('queued', 'running') OR status IN ('complete', 'interrupted') OR status = 'failed'),
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
  partial_text TEXT NOT NULL
  , partial_attempt INTEGER NOT NULL DEFAULT 0
  , partial_since INTEGER NOT NULL DEFAULT 0,
  UNIQUE (session, no)
) STRICT;

CREATE TABLE usage (
  day INTEGER NOT NULL,
  surface TEXT NOT NULL CHECK (surface IN ('current', 'legacy') OR surface = 'field'),
  endpoint TEXT NOT NULL,
  key_id TEXT NOT NULL, -- empty: no known App key
  client TEXT NOT NULL,
  requests INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  PRIMARY KEY (day, surface, endpoint, key_id, client)
) STRICT, WITHOUT ROWID;

CREATE TABLE uses (
  subject TEXT NOT NULL,
  measure TEXT NOT NULL,
  window_from INTEGER NOT NULL,
  amount INTEGER NOT NULL,
  PRIMARY KEY (subject, measure, window_from)
) STRICT, WITHOUT ROWID;

CREATE TABLE wallet_requests (
  session INTEGER NOT NULL REFERENCES sessions (ref),
  id INTEGER NOT NULL,
  call_id TEXT NOT NULL, -- the tool call that made it
  app TEXT NOT NULL,
  wallet TEXT NOT NULL,
  chain_id INTEGER NOT NULL,
  label TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('transaction', 'signature')),
  value TEXT NOT NULL, -- in wei, a decimal number of any length; '0' for a message
  sound INTEGER NOT NULL CHECK (sound IN (0, 1)),
  state TEXT NOT NULL CHECK (
    state IN ('staged', 'pending') OR state IN ('reported', 'expired') OR state IN ('rejected', 'confirmed')
    OR state IN ('failed', 'differs') OR state = 'not_found'
  ),
  staged_at INTEGER NOT NULL,
  requested_at INTEGER,
  expires_at INTEGER NOT NULL,
  claim TEXT, -- JSON, what the wallet reported
  proof TEXT, -- the hash in it
  verification TEXT, -- JSON
  turn_id TEXT, -- the turn in which the assistant learns the outcome
  payload TEXT NOT NULL, -- JSON; last, because SQLite reads the columns before it without its pages
  PRIMARY KEY (session, id),
  UNIQUE (session, call_id)
) STRICT;

CREATE TABLE work (
  day INTEGER NOT NULL,
  app TEXT NOT NULL,
  key_id TEXT NOT NULL, -- empty: no App key
  turns INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  PRIMARY KEY (day, app, key_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

CREATE INDEX long_logs_by_age ON long_logs (oldest_at, session);

CREATE INDEX failures_of_session ON messages (session, role, origin, position)
WHERE role = 'system' AND origin IS NULL AND position > 0;

CREATE INDEX open_calls_by_session ON open_calls (session);

CREATE INDEX past_transactions_by_age ON past_transactions (requested_at);

CREATE INDEX past_transactions_by_proof ON past_transactions (chain_id, proof) WHERE proof IS NOT NULL;

CREATE INDEX past_transactions_by_wallet ON past_transactions (app, wallet, chain_id, requested_at);

CREATE INDEX secrets_by_key ON secrets (key_id);

CREATE INDEX secrets_by_use ON secrets (max(used_at, created_at));

CREATE INDEX threads_by_activity ON sessions (active_at, id) WHERE deleted_at IS NULL;

CREATE INDEX threads_of_wallet ON sessions (wallet, active_at, id) WHERE deleted_at IS NULL AND wallet IS NOT NULL;

CREATE INDEX queued_turns ON turns (session, no) WHERE status = 'queued';

CREATE UNIQUE INDEX running_turn ON turns (session) WHERE status = 'running';

CREATE INDEX uses_by_window ON uses (window_from);

CREATE INDEX open_wallet_requests ON wallet_requests (expires_at) WHERE state IN ('staged', 'pending');

CREATE INDEX open_wallet_requests_of_session ON wallet_requests (session, id) WHERE state IN ('staged', 'pending');

CREATE INDEX wallet_requests_by_proof ON wallet_requests (chain_id, proof) WHERE proof IS NOT NULL;

CREATE INDEX wallet_requests_by_turn ON wallet_requests (turn_id, id) WHERE turn_id IS NOT NULL;

CREATE INDEX wallet_requests_by_wallet ON wallet_requests (app, wallet, chain_id, requested_at)
WHERE requested_at IS NOT NULL;

CREATE TRIGGER secret_added AFTER INSERT ON secrets BEGIN
  INSERT INTO secret_apps (app, secrets, bytes)
  VALUES (new.app, 1, 200 + octet_length(new.name) + octet_length(new.sealed))
  ON CONFLICT (app) DO UPDATE SET secrets = secrets + 1, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER secret_removed AFTER DELETE ON secrets BEGIN
  UPDATE secret_apps SET
    secrets = secrets - 1, bytes = bytes - 200 - octet_length(old.name) - octet_length(old.sealed)
  WHERE app = old.app;
END;

CREATE TRIGGER secret_replaced AFTER UPDATE OF sealed ON secrets BEGIN
  UPDATE secret_apps SET bytes = bytes + octet_length(new.sealed) - octet_length(old.sealed) WHERE app = new.app;
END;

CREATE TRIGGER log_copied AFTER INSERT ON sessions
WHEN NEW.last_event_id >= 64 OR NEW.last_system_no >= 64
BEGIN
  INSERT OR IGNORE INTO long_logs (session, oldest_at) VALUES (NEW.ref, 0);
END;
