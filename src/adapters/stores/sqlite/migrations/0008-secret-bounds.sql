-- When a session last used secrets of the client; 0: never. The retention period of existing secrets starts now.
ALTER TABLE secrets ADD COLUMN used_at INTEGER NOT NULL DEFAULT 0;
UPDATE secrets SET used_at = CAST(unixepoch('subsec') * 1000 AS INTEGER);

-- Finds secrets to prune.
CREATE INDEX secrets_by_use ON secrets (max(used_at, created_at));

-- The number and size of each App's secrets. A secret counts as 200 bytes plus its text.
CREATE TABLE secret_apps (
  app TEXT PRIMARY KEY,
  secrets INTEGER NOT NULL,
  bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO secret_apps (app, secrets, bytes)
SELECT app, count(*), sum(200 + octet_length(name) + octet_length(sealed)) FROM secrets GROUP BY app;

CREATE TRIGGER secret_added AFTER INSERT ON secrets BEGIN
  INSERT INTO secret_apps (app, secrets, bytes)
  VALUES (new.app, 1, 200 + octet_length(new.name) + octet_length(new.sealed))
  ON CONFLICT (app) DO UPDATE SET secrets = secrets + 1, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER secret_replaced AFTER UPDATE OF sealed ON secrets BEGIN
  UPDATE secret_apps SET bytes = bytes + octet_length(new.sealed) - octet_length(old.sealed) WHERE app = new.app;
END;

CREATE TRIGGER secret_removed AFTER DELETE ON secrets BEGIN
  UPDATE secret_apps SET
    secrets = secrets - 1, bytes = bytes - 200 - octet_length(old.name) - octet_length(old.sealed)
  WHERE app = old.app;
END;
