-- Lists the threads of a wallet, newest activity first. Excludes threads without a wallet, so that their turns do not
-- update the index.
DROP INDEX threads_of_wallet;
CREATE INDEX threads_of_wallet ON sessions (wallet, active_at, id) WHERE deleted_at IS NULL AND wallet IS NOT NULL;
