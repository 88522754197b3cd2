-- Request counts by day (UTC). Several nodes add to the same rows.
CREATE TABLE usage (
  day bigint NOT NULL,
  surface text COLLATE "C" NOT NULL CHECK (surface IN ('current', 'legacy')),
  endpoint text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL, -- empty: no known App key
  client text COLLATE "C" NOT NULL,
  requests bigint NOT NULL,
  first_at bigint NOT NULL,
  last_at bigint NOT NULL,
  PRIMARY KEY (day, surface, endpoint, key_id, client)
) WITH (fillfactor = 70);
