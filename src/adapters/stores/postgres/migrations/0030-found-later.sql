-- As in 0027; a definite verdict also replaces `not_found`, when a later look has found what was reported.
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
  IF r.state = 'reported' OR r.state = 'not_found' AND p_verdict <> 'not_found' THEN
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
