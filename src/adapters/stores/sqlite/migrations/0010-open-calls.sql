-- Tool calls outside turns that have started and not ended, with their leases.
CREATE TABLE open_calls (
  call_id TEXT PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions (ref),
  tool_name TEXT NOT NULL,
  owner TEXT NOT NULL,
  lease_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Finds the calls of a session that is being deleted.
CREATE INDEX open_calls_by_session ON open_calls (session);
