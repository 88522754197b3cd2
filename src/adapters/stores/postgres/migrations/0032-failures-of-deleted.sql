-- As in 0027; also removes the session's id from its failures, of which there are about 1000 in all.
CREATE OR REPLACE FUNCTION bury(s sessions, p_at bigint) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO buried (session) VALUES (s.ref);
  INSERT INTO past_transactions (of_session, id, app, wallet, chain_id, value, requested_at, proof)
  SELECT s.id, id, app, wallet, chain_id, value, requested_at, CASE WHEN state = 'confirmed' THEN proof END
  FROM wallet_requests
  WHERE session = s.ref AND kind = 'transaction' AND requested_at IS NOT NULL AND state <> 'rejected';
  UPDATE failures SET of_session = '' WHERE of_session = s.id;
  UPDATE sessions SET
    ref = nextval('session_refs'), title = '', wallet = NULL, rig = NULL, client = NULL, app = NULL,
    user_state = NULL, faults_claimed_by = NULL, faults_claimed_until = NULL, text_bytes = 0, shown_messages = 0,
    archived = false, pending = NULL, deleted_at = p_at
  WHERE ref = s.ref
$$;
