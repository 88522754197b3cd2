-- Integers name rows inside the database; the ids that the world knows stand once per row, in one index, and compare
-- by bytes. Times are milliseconds since the epoch, but those of leases, which are the database's own.
-- There are no foreign keys: a deleted session gets a new ref, so that what hangs on the old one is out of reach at
-- once and can be removed in slices.

CREATE SEQUENCE session_refs;

CREATE TABLE sessions (
  ref bigint PRIMARY KEY DEFAULT nextval('session_refs'),
  id text COLLATE "C" NOT NULL UNIQUE,
  title text NOT NULL,
  title_source text NOT NULL CHECK (title_source IN ('placeholder', 'automatic', 'person')),
  wallet text COLLATE "C",
  rig text,
  client text, -- the digest of the bound client's id
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
  faults_shown bigint NOT NULL DEFAULT 0, -- system_events.n up to which snapshots have carried the errors
  deleted_at bigint -- a tombstone: only the counters still mean something
) WITH (fillfactor = 80);

-- The threads of a wallet, newest activity first.
CREATE INDEX threads_of_wallet ON sessions (wallet, active_at, id) WHERE deleted_at IS NULL AND wallet IS NOT NULL;
-- All threads in that order; threads to prune.
CREATE INDEX threads_by_activity ON sessions (active_at, id) WHERE deleted_at IS NULL;

-- No index holds what a checkpoint or a renewal changes: these updates stay on their page.
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
  owner text, -- NULL: given up, or never claimed
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

-- The running turn of a session, of which there is at most one; all running turns.
CREATE UNIQUE INDEX running_turn ON turns (session) WHERE status = 'running';
-- The queue of a session; all queued turns.
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

-- Keys to prune.
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

-- Former refs of deleted sessions, whose rows are still to be removed.
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

-- Secrets of clients, encrypted: the row says which key opens it.
CREATE TABLE secrets (
  client text NOT NULL, -- the digest of the client's id
  app text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  key_id text NOT NULL,
  sealed text NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (client, app, name)
);

-- What a rotation of keys still has to do.
CREATE INDEX secrets_by_key ON secrets (key_id);

-- How much of a measure a subject has used in a window of time.
CREATE TABLE uses (
  subject text COLLATE "C" NOT NULL,
  measure text COLLATE "C" NOT NULL,
  window_from bigint NOT NULL,
  amount bigint NOT NULL,
  PRIMARY KEY (subject, measure, window_from)
) WITH (fillfactor = 70);

-- Windows that are over.
CREATE INDEX uses_by_window ON uses (window_from);

-- Written to by health checks.
CREATE TABLE probe (
  id integer PRIMARY KEY CHECK (id = 1),
  at bigint NOT NULL
);
