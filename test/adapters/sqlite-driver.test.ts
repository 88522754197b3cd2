import { describe, expect, it, jest } from '@jest/globals';

describe('the SQLite driver', () => {
  it('names the command that installs it, when it is missing', async () => {
    for (const name of ['better-sqlite3', '@diptych/sqlite-node20']) {
      const missing = () => {
        throw new Error('Cannot find package');
      };
      jest.unstable_mockModule(name, missing, { virtual: true });
    }
    const loading = import('../../src/adapters/stores/sqlite/driver.js');
    await expect(loading).rejects.toThrow(/^the SQLite driver \S+ is not installed .*: run npm ci/);
  });
});
