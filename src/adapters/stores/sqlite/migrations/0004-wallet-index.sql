-- The threads of a wallet, newest activity first. Those without one are left out: each of their turns would write to it.
DROP INDEX threads_of_wallet;
CREATE INDEX threads_of_wallet ON sessions (wallet, active_at, id) WHERE deleted_at IS NULL AND wallet IS NOT NULL;
