import { existsSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findTraces, lookBefore } from '../adapters/stores/sqlite/files/missing-data.js';
import { openStore, SECRETS_KEY_FILE } from '../composition/data.js';
import { describeDatabase } from '../config/network.js';
import type { Config } from '../config.js';
import { missingKeys } from '../core/access/secret-rotation.js';
import { SchemaVersionError } from '../adapters/stores/schema-version.js';
import type { Store } from '../core/ports/store.js';
import { attempt, type Finding } from './finding.js';
import { hasKey, sealerOf } from './secrets.js';

/** Checks the store, and that the keys of its secrets are configured. Creates and migrates no database. */
export async function checkData(config: Config): Promise<readonly Finding[]> {
  const { database } = config;
  if (database.kind === 'sqlite' && database.path !== null && !existsSync(database.path)) {
    return checkMissing(database.path);
  }
  const described = describeDatabase(database);
  const opening = openStore(config, { creates: false, migrates: false });
  const pending = await opening.then(() => undefined, describePending);
  if (pending !== undefined) {
    const store = { name: 'store', ok: true, message: `${described}: ${pending}` };
    return [store, await attempt('secrets', 'their keys can be read', () => checkKey(config))];
  }
  const findings: Finding[] = [];
  const store = await attempt('store', described, async () => {
    const opened = await opening;
    try {
      await opened.store.check();
      if (database.kind === 'sqlite' && database.path !== null) {
        const { requireSoundFile } = await import('../adapters/stores/sqlite/files/damage.js');
        requireSoundFile(database.path);
      }
      findings.push(...opened.missing.map((message) => ({ name: 'data', ok: false, message })));
      findings.push(
        await attempt('secrets', 'their keys are configured', () => checkSecrets(opened.store, config)),
      );
    } finally {
      await opened.close();
    }
  });
  return [store, ...findings];
}

/** Checks what stands in place of a SQLite database that does not exist. */
async function checkMissing(path: string): Promise<readonly Finding[]> {
  const store = await attempt('store', `${path} does not exist yet; the service creates it`, async () => {
    let folder = dirname(path);
    while (!existsSync(folder)) folder = dirname(folder);
    // With the slash, a file in place of the folder is an error.
    await access(`${folder}/`, constants.W_OK);
  });
  if (!store.ok) return [store];
  const lost = findTraces(lookBefore(path, [join(dirname(path), SECRETS_KEY_FILE)]));
  return [store, ...lost.map((message) => ({ name: 'data', ok: false, message }))];
}

/** Describes what the service does with a schema when it starts; undefined for any other error. */
function describePending(error: unknown): string | undefined {
  switch (error instanceof SchemaVersionError ? error.kind : undefined) {
    case 'older':
      return 'an older schema; the service migrates it when it starts';
    case 'empty':
      return 'no tables yet; the service creates them when it starts';
    case 'newer':
    case 'foreign':
    case undefined:
      return undefined;
  }
}

async function checkSecrets(store: Store, config: Config): Promise<void> {
  if ((await store.secretKeyIds()).length === 0) {
    await checkKey(config);
    return;
  }
  const missing = await missingKeys(store, await sealerOf(config));
  if (missing.length === 0) return;
  const which = missing.length === 1 ? 'the key' : 'the keys';
  throw new Error(
    `some stored values need ${which} ${missing.join(', ')}: add ${missing.length === 1 ? 'it' : 'them'} to SECRETS_KEY, after the newest`,
  );
}

/** Without stored secrets the service creates a key that does not exist, but it does not start with an invalid one. */
async function checkKey(config: Config): Promise<void> {
  if (hasKey(config)) await sealerOf(config);
}
