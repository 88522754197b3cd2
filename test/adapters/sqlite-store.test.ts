import { storeContract } from '../contracts/store.js';
import { openTestSqlite } from '../support/sqlite.js';

storeContract('the SQLite store', async () => {
  const store = await openTestSqlite();
  return { store, close: () => store.close() };
});
