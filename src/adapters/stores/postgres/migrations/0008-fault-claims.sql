-- The node that is delivering the errors above faults_shown in a response, and when its claim ends.
ALTER TABLE sessions ADD COLUMN faults_claimed_by text, ADD COLUMN faults_claimed_until timestamptz;

CREATE FUNCTION claim_faults(p_id text, p_owner text, p_claim_ms bigint) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
  s sessions;
  faults json;
BEGIN
  SELECT * INTO s FROM sessions WHERE id = p_id AND deleted_at IS NULL FOR UPDATE;
  IF NOT FOUND THEN
    RETURN json_build_object('shown', 0, 'faults', '[]'::json);
  END IF;
  IF s.faults_claimed_by IS NULL OR s.faults_claimed_by = p_owner OR s.faults_claimed_until <= clock_timestamp() THEN
    SELECT json_agg(json_build_object('n', e.n, 'text', e.text) ORDER BY e.n) INTO faults
    FROM system_events e WHERE e.session = s.ref AND e.n > s.faults_shown AND e.kind = 'SystemError';
    IF faults IS NOT NULL THEN
      UPDATE sessions SET
        faults_claimed_by = p_owner, faults_claimed_until = clock_timestamp() + p_claim_ms * interval '1 millisecond'
      WHERE ref = s.ref;
    END IF;
  END IF;
  RETURN json_build_object('shown', s.faults_shown, 'faults', coalesce(faults, '[]'::json));
END
$$;

-- As in 0002; also clears the claim.
CREATE OR REPLACE FUNCTION bury(s sessions, p_at bigint) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO buried (session) VALUES (s.ref);
  UPDATE sessions SET
    ref = nextval('session_refs'), title = '', wallet = NULL, rig = NULL, client = NULL, app = NULL,
    user_state = NULL, faults_claimed_by = NULL, faults_claimed_until = NULL, deleted_at = p_at
  WHERE ref = s.ref
$$;
