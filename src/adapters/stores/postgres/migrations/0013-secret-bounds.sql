-- When a session last used secrets of the client; 0: never. The retention period of existing secrets starts now.
ALTER TABLE secrets ADD COLUMN used_at bigint NOT NULL DEFAULT 0;
UPDATE secrets SET used_at = (extract(epoch FROM now()) * 1000)::bigint;

-- Finds secrets to prune.
CREATE INDEX secrets_by_use ON secrets (greatest(used_at, created_at));

-- The number and size of each App's secrets.
CREATE TABLE secret_apps (
  app text COLLATE "C" PRIMARY KEY,
  secrets bigint NOT NULL,
  bytes bigint NOT NULL
) WITH (fillfactor = 70);

-- Returns the size of a secret: its text, plus an estimate of the rest of its row.
CREATE FUNCTION secret_bytes(p_name text, p_sealed text) RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
  SELECT 200 + octet_length(p_name) + octet_length(p_sealed)
$$;

INSERT INTO secret_apps (app, secrets, bytes)
SELECT app, count(*), sum(secret_bytes(name, sealed)) FROM secrets GROUP BY app;

-- Every writer locks secrets first, then the rows of their Apps in order, so that concurrent writers cannot deadlock.
CREATE FUNCTION count_secrets_added() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO secret_apps AS a (app, secrets, bytes)
  SELECT app, count(*), sum(secret_bytes(name, sealed)) FROM added GROUP BY app ORDER BY app
  ON CONFLICT (app) DO UPDATE SET secrets = a.secrets + EXCLUDED.secrets, bytes = a.bytes + EXCLUDED.bytes;
  RETURN NULL;
END
$$;

CREATE FUNCTION count_secrets_replaced() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO secret_apps AS a (app, secrets, bytes)
  SELECT app, 0, sum(bytes) FROM (
    SELECT app, secret_bytes(name, sealed) AS bytes FROM after
    UNION ALL SELECT app, -secret_bytes(name, sealed) FROM before
  ) AS changes GROUP BY app HAVING sum(bytes) <> 0 ORDER BY app
  ON CONFLICT (app) DO UPDATE SET bytes = a.bytes + EXCLUDED.bytes;
  RETURN NULL;
END
$$;

CREATE FUNCTION count_secrets_removed() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO secret_apps AS a (app, secrets, bytes)
  SELECT app, -count(*), -sum(secret_bytes(name, sealed)) FROM removed GROUP BY app ORDER BY app
  ON CONFLICT (app) DO UPDATE SET secrets = a.secrets + EXCLUDED.secrets, bytes = a.bytes + EXCLUDED.bytes;
  RETURN NULL;
END
$$;

CREATE TRIGGER secrets_added AFTER INSERT ON secrets
REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_secrets_added();
CREATE TRIGGER secrets_replaced AFTER UPDATE ON secrets
REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION count_secrets_replaced();
CREATE TRIGGER secrets_removed AFTER DELETE ON secrets
REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_secrets_removed();

-- Inserts or replaces secrets of a client by App and name. Returns `stored`, or the limit that they exceed and writes
-- nothing. Checks the limits after the write, which locks the counts, so that concurrent calls cannot exceed a limit
-- together.
CREATE FUNCTION put_secrets(
  p_client text, p_secrets json, p_max_names integer, p_max_client bigint, p_max_app bigint, p_at bigint
) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  bytes_before bigint;
  bytes_after bigint;
  exceeded text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(p_client, 0));
  bytes_before := (SELECT coalesce(sum(secret_bytes(name, sealed)), 0) FROM secrets WHERE client = p_client);
  INSERT INTO secrets AS s (client, app, name, key_id, sealed, created_at)
  SELECT p_client, r.app, r.name, r.key_id, r.sealed, p_at
  FROM json_to_recordset(p_secrets) AS r (app text, name text, key_id text, sealed text)
  ORDER BY r.app COLLATE "C", r.name COLLATE "C"
  ON CONFLICT (client, app, name) DO UPDATE SET
    key_id = EXCLUDED.key_id, sealed = EXCLUDED.sealed, created_at = EXCLUDED.created_at;
  bytes_after := (SELECT coalesce(sum(secret_bytes(name, sealed)), 0) FROM secrets WHERE client = p_client);
  exceeded := CASE
    WHEN EXISTS (SELECT FROM secrets WHERE client = p_client GROUP BY app HAVING count(*) > p_max_names) THEN 'names'
    WHEN bytes_after <= bytes_before THEN NULL
    WHEN bytes_after > p_max_client THEN 'client'
    WHEN EXISTS (
      SELECT FROM secret_apps a
      WHERE a.bytes > p_max_app AND a.app IN (SELECT r.app FROM json_to_recordset(p_secrets) AS r (app text))) THEN 'app'
  END;
  IF exceeded IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'DS001', MESSAGE = exceeded;
  END IF;
  RETURN 'stored';
EXCEPTION WHEN SQLSTATE 'DS001' THEN
  RETURN SQLERRM;
END
$$;

-- Removes secrets that were neither stored nor used since p_before. Returns their number.
CREATE FUNCTION prune_secrets(p_before bigint, p_limit integer) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  removed integer;
BEGIN
  DELETE FROM secrets WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM secrets WHERE greatest(used_at, created_at) < p_before
    ORDER BY greatest(used_at, created_at) LIMIT p_limit FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END
$$;
