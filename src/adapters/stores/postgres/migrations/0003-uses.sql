-- Rows of uses are locked in a fixed order and after the session, so that concurrent writers cannot deadlock.
-- p_quotas and p_uses: NULL means none.

CREATE FUNCTION add_uses(p_uses json) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO uses (subject, measure, window_from, amount)
  SELECT u.subject, u.measure, u.window_from, sum(u.amount)
  FROM json_to_recordset(p_uses) AS u (subject text, measure text, window_from bigint, amount bigint)
  GROUP BY 1, 2, 3 ORDER BY u.subject COLLATE "C", u.measure COLLATE "C", 3
  ON CONFLICT (subject, measure, window_from) DO UPDATE SET amount = uses.amount + EXCLUDED.amount
$$;

-- Returns the index of the first exhausted quota; NULL when none is. Locks the uses of all quotas until the transaction
-- ends.
CREATE FUNCTION find_exhausted(p_quotas json) RETURNS integer
LANGUAGE plpgsql AS $$
BEGIN
  IF p_quotas IS NULL THEN
    RETURN NULL;
  END IF;
  PERFORM add_uses((
    SELECT json_agg(json_build_object('subject', q.subject, 'measure', q.measure, 'window_from', q.window_from, 'amount', 0))
    FROM json_to_recordset(p_quotas) AS q (subject text, measure text, window_from bigint)));
  RETURN (
    SELECT q.n FROM json_to_recordset(p_quotas) AS q (n integer, subject text, measure text, window_from bigint, bound bigint)
    JOIN uses u ON (u.subject, u.measure, u.window_from) = (q.subject, q.measure, q.window_from)
    WHERE u.amount >= q.bound ORDER BY q.n LIMIT 1);
END
$$;

-- Adds one to the uses of the quotas on a measure; NULL: of all quotas.
CREATE FUNCTION count_quotas(p_quotas json, p_measure text) RETURNS void
LANGUAGE sql AS $$
  SELECT add_uses((
    SELECT json_agg(json_build_object('subject', q.subject, 'measure', q.measure, 'window_from', q.window_from, 'amount', 1))
    FROM json_to_recordset(p_quotas) AS q (subject text, measure text, window_from bigint)
    WHERE p_measure IS NULL OR q.measure = p_measure))
$$;

CREATE FUNCTION count_request(p_quotas json) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  exhausted integer := find_exhausted(p_quotas);
BEGIN
  IF exhausted IS NULL THEN
    PERFORM count_quotas(p_quotas, NULL);
  END IF;
  RETURN exhausted;
END
$$;
