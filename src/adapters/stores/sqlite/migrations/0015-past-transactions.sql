-- Transactions that a wallet was asked for in sessions that have been deleted since: they still count toward the limit of
-- a day, and a transaction that has confirmed one of them confirms no other request.
CREATE TABLE past_transactions (
  of_session TEXT NOT NULL, -- the id of the deleted session
  id INTEGER NOT NULL,
  app TEXT NOT NULL,
  wallet TEXT NOT NULL,
  chain_id INTEGER NOT NULL,
  value TEXT NOT NULL, -- in wei, a decimal number of any length
  requested_at INTEGER NOT NULL,
  proof TEXT, -- the hash of the transaction that has confirmed it; NULL: none has
  PRIMARY KEY (of_session, id)
) STRICT, WITHOUT ROWID;

-- Finds what a wallet was asked for in a day.
CREATE INDEX past_transactions_by_wallet ON past_transactions (app, wallet, chain_id, requested_at);
-- Finds the request that a transaction has confirmed.
CREATE INDEX past_transactions_by_proof ON past_transactions (chain_id, proof) WHERE proof IS NOT NULL;
-- Finds those to prune.
CREATE INDEX past_transactions_by_age ON past_transactions (requested_at);
