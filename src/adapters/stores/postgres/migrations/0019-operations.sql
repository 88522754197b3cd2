-- The work of each process (node) by the minute. first_text and duration count durations by bucket, as JSON.
CREATE TABLE activity (
  at bigint NOT NULL,
  node text COLLATE "C" NOT NULL,
  complete bigint NOT NULL,
  interrupted bigint NOT NULL,
  failed bigint NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  first_text text NOT NULL,
  duration text NOT NULL,
  PRIMARY KEY (at, node)
) WITH (fillfactor = 70);

-- Turns that failed. Kept when their session is deleted, without any of its text.
CREATE TABLE failures (
  at bigint NOT NULL,
  turn_id text COLLATE "C" NOT NULL,
  of_session text COLLATE "C" NOT NULL,
  app text NOT NULL,
  rig text,
  reason text,
  PRIMARY KEY (at, turn_id)
);

-- Turns and tokens by day (UTC), App and key. Several nodes add to the same rows.
CREATE TABLE work (
  day bigint NOT NULL,
  app text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL, -- empty: no App key
  turns bigint NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  PRIMARY KEY (day, app, key_id)
) WITH (fillfactor = 70);

-- Notices to the operator, with the process that delivers each and when one was delivered last.
CREATE TABLE notices (
  name text COLLATE "C" PRIMARY KEY,
  owner text NOT NULL,
  claimed_until bigint NOT NULL,
  delivered_at bigint
);

-- Removes a batch of old minutes and failures. Returns how many rows of the table with more of them.
CREATE FUNCTION prune_activity(p_before bigint, p_limit integer) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  minutes integer;
  failed integer;
BEGIN
  DELETE FROM activity WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM activity WHERE at < p_before ORDER BY at LIMIT p_limit FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS minutes = ROW_COUNT;
  DELETE FROM failures WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM failures WHERE at < p_before ORDER BY at LIMIT p_limit FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS failed = ROW_COUNT;
  RETURN greatest(minutes, failed);
END
$$;
