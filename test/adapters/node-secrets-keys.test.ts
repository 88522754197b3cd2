import { randomBytes } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { loadSecretsKeys } from '../../src/adapters/platform/node/secrets-keys.js';
import { withFolder } from '../support/folder.js';

describe('the keys for secrets', () => {
  it('are the configured ones, and then no file is made', () =>
    withFolder(async (folder) => {
      const keys = [randomBytes(32), randomBytes(32)];
      const given = keys.map((key) => key.toString('base64'));
      expect(await loadSecretsKeys(given, join(folder, 'secrets.key'))).toEqual(keys);
      expect(readdirSync(folder)).toEqual([]);
    }));

  it('are made once, for the owner alone, and kept so', () =>
    withFolder(async (folder) => {
      const file = join(folder, 'secrets.key');
      const [made] = await loadSecretsKeys(null, file);
      expect(made).toHaveLength(32);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(readdirSync(folder)).toEqual(['secrets.key']);
      expect(await loadSecretsKeys(null, file)).toEqual([made]);
      chmodSync(file, 0o660);
      expect(await loadSecretsKeys(null, file)).toEqual([made]);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      // What is kept can be given as SECRETS_KEY.
      expect(await loadSecretsKeys([readFileSync(file, 'utf8').trim()], 'none')).toEqual([made]);
    }));

  it('are the same for all who start at once', () =>
    withFolder(async (folder) => {
      const file = join(folder, 'secrets.key');
      const all = await Promise.all(Array.from({ length: 20 }, () => loadSecretsKeys(null, file)));
      expect(new Set(all.map(([key]) => key?.toString('hex'))).size).toBe(1);
      expect(readdirSync(folder)).toEqual(['secrets.key']);
    }));

  it.each(['', 'short', randomBytes(31).toString('base64'), randomBytes(32).toString('hex')])(
    'are not replaced in a file that holds none (%j)',
    (text) =>
      withFolder(async (folder) => {
        const file = join(folder, 'secrets.key');
        writeFileSync(file, text);
        await expect(loadSecretsKeys(null, file)).rejects.toThrow('does not hold a key');
        expect(readFileSync(file, 'utf8')).toBe(text);
      }),
  );

  it('name the file that cannot be read', () =>
    withFolder(async (folder) => {
      await expect(loadSecretsKeys(null, folder)).rejects.toThrow(
        `cannot read the key of secrets ${folder} (EISDIR)`,
      );
    }));

  it('fail in the words of the system where no file can be made', () =>
    withFolder(async (folder) => {
      await expect(loadSecretsKeys(null, join(folder, 'none', 'secrets.key'))).rejects.toThrow('ENOENT');
    }));
});
