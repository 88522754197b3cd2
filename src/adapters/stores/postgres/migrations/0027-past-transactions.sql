-- Transactions that a wallet was asked for in sessions that have been deleted since: they still count toward the limit of
-- a day, and a transaction that has confirmed one of them confirms no other request.
CREATE TABLE past_transactions (
  of_session text COLLATE "C" NOT NULL, -- the id of the deleted session
  id bigint NOT NULL,
  app text NOT NULL,
  wallet text NOT NULL,
  chain_id bigint NOT NULL,
  value text NOT NULL, -- in wei, a decimal number of any length
  requested_at bigint NOT NULL,
  proof text COLLATE "C", -- the hash of the transaction that has confirmed it; NULL: none has
  PRIMARY KEY (of_session, id)
);

-- Finds what a wallet was asked for in a day.
CREATE INDEX past_transactions_by_wallet ON past_transactions (app, wallet, chain_id, requested_at);
-- Finds the request that a transaction has confirmed.
CREATE INDEX past_transactions_by_proof ON past_transactions (chain_id, proof) WHERE proof IS NOT NULL;
-- Finds those to prune.
CREATE INDEX past_transactions_by_age ON past_transactions (requested_at);

-- As in 0016; also keeps what its wallets were asked for.
CREATE OR REPLACE FUNCTION bury(s sessions, p_at bigint) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO buried (session) VALUES (s.ref);
  INSERT INTO past_transactions (of_session, id, app, wallet, chain_id, value, requested_at, proof)
  SELECT s.id, id, app, wallet, chain_id, value, requested_at, CASE WHEN state = 'confirmed' THEN proof END
  FROM wallet_requests
  WHERE session = s.ref AND kind = 'transaction' AND requested_at IS NOT NULL AND state <> 'rejected';
  UPDATE sessions SET
    ref = nextval('session_refs'), title = '', wallet = NULL, rig = NULL, client = NULL, app = NULL,
    user_state = NULL, faults_claimed_by = NULL, faults_claimed_until = NULL, text_bytes = 0, shown_messages = 0,
    archived = false, pending = NULL, deleted_at = p_at
  WHERE ref = s.ref
$$;

-- As in 0016; also counts what is past. Requests whose session was deleted are in both tables until they are removed.
CREATE OR REPLACE FUNCTION wallet_value_since(p_app text, p_wallet text, p_chain bigint, p_since bigint) RETURNS numeric
LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(value::numeric), 0) FROM (
    SELECT r.value FROM wallet_requests r JOIN sessions s ON s.ref = r.session
    WHERE r.app = p_app AND r.wallet = p_wallet AND r.chain_id = p_chain AND r.requested_at >= p_since
      AND r.state <> 'rejected'
    UNION ALL
    SELECT value FROM past_transactions
    WHERE app = p_app AND wallet = p_wallet AND chain_id = p_chain AND requested_at >= p_since
  ) AS requested
$$;

-- As in 0016; also finds what is past.
CREATE OR REPLACE FUNCTION verify_wallet_request(
  p_session text, p_id bigint, p_turn text, p_verdict text, p_verification text, p_taken_verdict text, p_taken text
) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
  s sessions;
  r wallet_requests;
  taken boolean := false;
BEGIN
  SELECT * INTO s FROM sessions WHERE id = p_session AND deleted_at IS NULL FOR UPDATE;
  SELECT * INTO r FROM wallet_requests WHERE session = s.ref AND id = p_id AND turn_id = p_turn;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  IF r.state = 'reported' THEN
    IF p_verdict = 'confirmed' AND r.kind = 'transaction' AND r.proof IS NOT NULL THEN
      PERFORM pg_advisory_xact_lock(hashtextextended(concat_ws(' ', r.chain_id, r.proof), 2));
      taken := EXISTS (
        SELECT FROM wallet_requests o JOIN sessions l ON l.ref = o.session
        WHERE o.chain_id = r.chain_id AND o.proof = r.proof AND o.state = 'confirmed')
        OR EXISTS (SELECT FROM past_transactions WHERE chain_id = r.chain_id AND proof = r.proof);
    END IF;
    UPDATE wallet_requests SET
      state = CASE WHEN taken THEN p_taken_verdict ELSE p_verdict END,
      verification = (CASE WHEN taken THEN p_taken ELSE p_verification END)::json
    WHERE session = s.ref AND id = p_id
    RETURNING * INTO r;
  END IF;
  RETURN row_to_json(r);
END
$$;
