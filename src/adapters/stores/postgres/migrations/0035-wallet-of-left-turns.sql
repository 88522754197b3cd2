-- Asks a wallet, unless the turn that asks was interrupted or claimed by another process. No turn: a client asks.
CREATE FUNCTION request_wallet_for(
  p_session text, p_ids bigint[], p_event text, p_since bigint, p_most json, p_expires_at bigint, p_at bigint,
  p_max_bytes bigint, p_turn text, p_owner text, p_attempt integer
) RETURNS json
LANGUAGE plpgsql AS $$
BEGIN
  -- Interrupts lock the session, too: whichever comes second sees what the first has done.
  PERFORM 1 FROM sessions WHERE id = p_session AND deleted_at IS NULL FOR UPDATE;
  IF p_turn IS NOT NULL AND NOT EXISTS (
    SELECT FROM turns
    WHERE id = p_turn AND status = 'running' AND owner = p_owner AND attempt = p_attempt AND NOT cancel_requested
  ) THEN
    RETURN json_build_object('kind', 'left');
  END IF;
  RETURN request_wallet(p_session, p_ids, p_event, p_since, p_most, p_expires_at, p_at, p_max_bytes);
END
$$;
