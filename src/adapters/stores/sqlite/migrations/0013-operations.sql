-- The work of each process (node) by the minute. first_text and duration count durations by bucket, as JSON.
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

-- Turns that failed. Kept when their session is deleted, without any of its text.
CREATE TABLE failures (
  at INTEGER NOT NULL,
  turn_id TEXT NOT NULL,
  of_session TEXT NOT NULL,
  app TEXT NOT NULL,
  rig TEXT,
  reason TEXT,
  PRIMARY KEY (at, turn_id)
) STRICT, WITHOUT ROWID;

-- Turns and tokens by day (UTC), App and key.
CREATE TABLE work (
  day INTEGER NOT NULL,
  app TEXT NOT NULL,
  key_id TEXT NOT NULL, -- empty: no App key
  turns INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  PRIMARY KEY (day, app, key_id)
) STRICT, WITHOUT ROWID;

-- Notices to the operator, with the process that delivers each and when one was delivered last.
CREATE TABLE notices (
  name TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  claimed_until INTEGER NOT NULL,
  delivered_at INTEGER
) STRICT, WITHOUT ROWID;
