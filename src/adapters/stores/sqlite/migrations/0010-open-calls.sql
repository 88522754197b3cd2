-- Calls of tools outside turns that have begun and not ended, and who works on them until when.
CREATE TABLE open_calls (
  call_id TEXT PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions (ref),
  tool_name TEXT NOT NULL,
  owner TEXT NOT NULL,
  lease_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A session is forgotten together with its calls.
CREATE INDEX open_calls_by_session ON open_calls (session);
