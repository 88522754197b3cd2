-- Returns the index of the first exhausted quota; NULL when none is. Locks nothing.
CREATE FUNCTION read_exhausted(p_quotas json) RETURNS integer
LANGUAGE sql STABLE AS $$
  SELECT q.n FROM json_to_recordset(p_quotas) AS q (n integer, subject text, measure text, window_from bigint, bound bigint)
  JOIN uses u ON (u.subject, u.measure, u.window_from) = (q.subject, q.measure, q.window_from)
  WHERE u.amount >= q.bound ORDER BY q.n LIMIT 1
$$;

-- As in 0003; a request that is refused writes nothing, unless a concurrent one has exhausted the quota.
CREATE OR REPLACE FUNCTION find_exhausted(p_quotas json) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  exhausted integer := read_exhausted(p_quotas);
BEGIN
  IF p_quotas IS NULL OR exhausted IS NOT NULL THEN
    RETURN exhausted;
  END IF;
  PERFORM add_uses((
    SELECT json_agg(json_build_object('subject', q.subject, 'measure', q.measure, 'window_from', q.window_from, 'amount', 0))
    FROM json_to_recordset(p_quotas) AS q (subject text, measure text, window_from bigint)));
  RETURN read_exhausted(p_quotas);
END
$$;
