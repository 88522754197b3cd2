-- Transactions and messages that the assistant prepared for a wallet to sign. The checks have no lists of more than two
-- values, see 0005.
CREATE TABLE wallet_requests (
  session INTEGER NOT NULL REFERENCES sessions (ref),
  id INTEGER NOT NULL,
  call_id TEXT NOT NULL, -- the tool call that made it
  app TEXT NOT NULL,
  wallet TEXT NOT NULL,
  chain_id INTEGER NOT NULL,
  label TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('transaction', 'signature')),
  value TEXT NOT NULL, -- in wei, a decimal number of any length; '0' for a message
  sound INTEGER NOT NULL CHECK (sound IN (0, 1)),
  state TEXT NOT NULL CHECK (
    state IN ('staged', 'pending') OR state IN ('reported', 'expired') OR state IN ('rejected', 'confirmed')
    OR state IN ('failed', 'differs') OR state = 'not_found'
  ),
  staged_at INTEGER NOT NULL,
  requested_at INTEGER,
  expires_at INTEGER NOT NULL,
  claim TEXT, -- JSON, what the wallet reported
  proof TEXT, -- the hash in it
  verification TEXT, -- JSON
  turn_id TEXT, -- the turn in which the assistant learns the outcome
  payload TEXT NOT NULL, -- JSON; last, because SQLite reads the columns before it without its pages
  PRIMARY KEY (session, id),
  UNIQUE (session, call_id)
) STRICT;

-- Finds requests to expire.
CREATE INDEX open_wallet_requests ON wallet_requests (expires_at) WHERE state IN ('staged', 'pending');
-- Finds the open requests of a session.
CREATE INDEX open_wallet_requests_of_session ON wallet_requests (session, id) WHERE state IN ('staged', 'pending');
-- Finds what a wallet was asked for in a day.
CREATE INDEX wallet_requests_by_wallet ON wallet_requests (app, wallet, chain_id, requested_at)
WHERE requested_at IS NOT NULL;
-- Finds the request that a transaction has confirmed.
CREATE INDEX wallet_requests_by_proof ON wallet_requests (chain_id, proof) WHERE proof IS NOT NULL;
-- Finds the requests whose outcome a turn learns.
CREATE INDEX wallet_requests_by_turn ON wallet_requests (turn_id, id) WHERE turn_id IS NOT NULL;

ALTER TABLE sessions ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
-- What the pending rows of wallet_requests show, as JSON, written together with them; NULL: none is pending.
ALTER TABLE sessions ADD COLUMN pending TEXT;
-- The highest id of a wallet request. Goes on after the session was deleted.
ALTER TABLE sessions ADD COLUMN last_wallet_no INTEGER NOT NULL DEFAULT 0;

-- 'wallet': the service states the outcome of wallet requests.
ALTER TABLE messages ADD COLUMN origin TEXT;

-- Allows a third kind, in the way of 0005.
PRAGMA writable_schema = ON;

UPDATE sqlite_schema
SET sql = replace(
  sql,
  'kind IN (''SystemError'', ''SystemNotice'')',
  'kind IN (''SystemError'', ''SystemNotice'') OR kind = ''InlineCall'''
)
WHERE type = 'table' AND name = 'system_events';

PRAGMA writable_schema = RESET;

-- Changes the schema version, so that other connections reload the schema.
CREATE VIEW changed AS SELECT 1;
DROP VIEW changed;
