-- As threads_of_wallet in 0001, and with all that a list of threads shows: a page is read from the index alone. The threads
-- of a wallet are spread over the table, so that each row of a page cost a read of its own.
-- threads_of_wallet stays until the next release: dropping it needs a lock that could deadlock with nodes that run.
CREATE INDEX threads_of_wallet_list ON sessions (wallet, active_at, id) INCLUDE (title, archived, created_at)
WHERE deleted_at IS NULL AND wallet IS NOT NULL;
