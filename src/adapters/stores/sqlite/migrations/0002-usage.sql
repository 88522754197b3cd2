-- Request counts by day (UTC).
CREATE TABLE usage (
  day INTEGER NOT NULL,
  surface TEXT NOT NULL CHECK (surface IN ('current', 'legacy')),
  endpoint TEXT NOT NULL,
  key_id TEXT NOT NULL, -- empty: no known App key
  client TEXT NOT NULL,
  requests INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  PRIMARY KEY (day, surface, endpoint, key_id, client)
) STRICT, WITHOUT ROWID;
