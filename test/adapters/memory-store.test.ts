import { createMemoryStore } from '../support/memory-store/store.js';
import { storeContract } from '../contracts/store.js';

storeContract('the memory store', () => {
  const store = createMemoryStore();
  return Promise.resolve({ store, close: () => store.close() });
});
