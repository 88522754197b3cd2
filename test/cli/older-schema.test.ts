import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SqliteDatabase } from '../../src/adapters/stores/sqlite/driver.js';
import { migrate, readMigrations } from '../../src/adapters/stores/sqlite/migrate.js';
import { Place } from './running.js';

const MIGRATIONS = readMigrations(new URL('../../src/adapters/stores/sqlite/migrations/', import.meta.url));
const OLDER = MIGRATIONS.length - 1;

let place: Place;
beforeEach(() => {
  place = new Place();
  mkdirSync(dirname(place.database), { recursive: true });
  const db = new SqliteDatabase(place.database);
  db.pragma('journal_mode = WAL');
  migrate(db, MIGRATIONS.slice(0, OLDER));
  db.close();
});
afterEach(() => place.clear());

function schemaOf(path: string): unknown {
  const db = new SqliteDatabase(path, { readonly: true });
  try {
    return db.pragma('user_version', { simple: true });
  } finally {
    db.close();
  }
}

describe('a command before the first start of a new version', () => {
  it.each([
    ['keys', 'list'],
    ['keys', 'create', '--app', 'default'],
    ['sessions', 'list'],
    ['legacy', 'report'],
  ])('%s %s does not migrate the database', async (...args) => {
    const { code, out, err } = await place.run(args);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(`older version of this program: its schema is ${String(OLDER)}`);
    expect(schemaOf(place.database)).toBe(OLDER);
  });

  it('check reports that the service will migrate it', async () => {
    const { code, out } = await place.run(['check']);
    expect(code).toBe(0);
    expect(out).toContain(`store: ${place.database}: an older schema; the service migrates it`);
    expect(schemaOf(place.database)).toBe(OLDER);
  });

  it('check reports that the service cannot use the key of secrets', async () => {
    writeFileSync(join(dirname(place.database), 'secrets.key'), 'a key');
    const { code, out } = await place.run(['check']);
    expect(out).toMatch(/FAIL {2}secrets: .* does not hold a key/);
    expect(code).toBe(1);
  });

  it('backup copies it as it is', async () => {
    const copy = join(place.directory, 'copy.db');
    expect(await place.run(['backup', copy])).toMatchObject({ code: 0, err: '' });
    expect([schemaOf(place.database), schemaOf(copy)]).toEqual([OLDER, OLDER]);
  });
});
