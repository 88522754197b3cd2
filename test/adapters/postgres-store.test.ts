import { storeContract } from '../contracts/store.js';
import { describeWithPostgres, testDatabase } from '../support/postgres.js';

describeWithPostgres('PostgreSQL', () => {
  const database = testDatabase();

  storeContract('the PostgreSQL store', async () => {
    const store = await database.open();
    return { store, close: () => store.close() };
  });
});
