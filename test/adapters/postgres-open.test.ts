import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { openConnections } from '../../src/adapters/stores/postgres/connections.js';
import { migrate, readMigrations, type Migration } from '../../src/adapters/stores/postgres/migrate.js';
import { openPostgresStore } from '../../src/adapters/stores/postgres/store.js';
import { StoreUnavailableError } from '../../src/core/ports/store.js';
import { change, loaded, sendAndClaim } from '../contracts/store-fixtures.js';
import { describeWithPostgres, testDatabase } from '../support/postgres.js';
import { runSql } from '../support/run-sql.js';

const ID = '00000000-0000-4000-8000-000000000001';

const TABLES = 'SELECT tablename FROM pg_tables WHERE schemaname = current_schema()';

function migration(number: number, sql: string): Migration {
  return { number, name: `${String(number).padStart(4, '0')}-test.sql`, sql };
}

describeWithPostgres('opening a PostgreSQL store', () => {
  const database = testDatabase();

  it('makes the schema once when several open it together, and finds the data again', async () => {
    const url = await database.newUrl();
    const stores = await Promise.all([1, 2, 3, 4].map(() => openPostgresStore({ url, poolSize: 1 })));
    await sendAndClaim(stores[0] ?? fail(), ID);
    expect((await loaded(stores[3] ?? fail(), ID)).open).toHaveLength(1);
    await Promise.all(stores.map((store) => store.close()));

    const again = await openPostgresStore({ url });
    expect((await loaded(again, ID)).open).toHaveLength(1);
    await again.close();
    const applied = await runSql<{ number: number }>(
      url,
      'SELECT number FROM schema_migrations ORDER BY number',
    );
    expect(applied.map(({ number }) => number)).toEqual(applied.map((_, index) => index + 1));
  });

  it('applies what is missing, in order, once', async () => {
    const url = await database.newUrl();
    const first = migration(1, 'CREATE TABLE steps (n integer)');
    const second = migration(2, 'INSERT INTO steps VALUES (2)');
    await migrate({ url }, [first]);
    await migrate({ url }, [first, second]);
    await Promise.all([1, 2, 3].map(() => migrate({ url }, [first, second])));
    expect(await runSql(url, 'SELECT n FROM steps')).toEqual([{ n: 2 }]);
  });

  it('leaves nothing of a migration that fails, and continues with it', async () => {
    const url = await database.newUrl();
    const broken = [
      migration(1, 'CREATE TABLE steps (n integer)'),
      migration(2, 'INSERT INTO steps VALUES (1); INSERT INTO nowhere VALUES (1)'),
    ];
    await expect(migrate({ url }, broken)).rejects.toThrow('PostgreSQL refused a statement (42P01)');
    expect(await runSql(url, 'SELECT n FROM steps')).toEqual([]);
    await migrate({ url }, [...broken.slice(0, 1), migration(2, 'INSERT INTO steps VALUES (2)')]);
    expect(await runSql(url, 'SELECT n FROM steps')).toEqual([{ n: 2 }]);
  });

  it('refuses a database that is newer than the program', async () => {
    const url = await database.newUrl();
    const store = await openPostgresStore({ url });
    await store.close();
    await runSql(url, "INSERT INTO schema_migrations (number, name) VALUES (9999, 'from the future')");
    await expect(openPostgresStore({ url })).rejects.toThrow(
      'newer version of this program: its schema is 9999',
    );
  });

  it('does not migrate an older schema when it must not', async () => {
    const url = await database.newUrl();
    const migrations = await readMigrations(
      new URL('../../src/adapters/stores/postgres/migrations/', import.meta.url),
    );
    await migrate({ url }, migrations.slice(0, -1));
    await expect(openPostgresStore({ url, migrates: false })).rejects.toThrow(
      expect.objectContaining({ name: 'SchemaVersionError', kind: 'older' }),
    );
    const applied = await runSql(url, 'SELECT number FROM schema_migrations');
    expect(applied).toHaveLength(migrations.length - 1);
  });

  it('creates the schema of an empty database only when it may', async () => {
    const url = await database.newUrl();
    const opening = openPostgresStore({ url, creates: false, migrates: false });
    await expect(opening).rejects.toThrow(
      expect.objectContaining({ name: 'SchemaVersionError', kind: 'empty' }),
    );
    expect(await runSql(url, TABLES)).toEqual([]);
    const store = await openPostgresStore({ url, migrates: false });
    await store.check();
    await store.close();
    const again = await openPostgresStore({ url, creates: false, migrates: false });
    await again.close();
  });

  it('creates its tables in the first schema of the search path, although the next one has some', async () => {
    const url = new URL(await database.newUrl());
    const other = new URL(await database.newUrl());
    await migrate({ url: url.href }, [migration(1, 'CREATE TABLE steps (n integer)')]);
    const path = [other, url].map(({ searchParams }) => searchParams.get('options')?.split('=').at(-1));
    other.searchParams.set('options', `-c search_path=${path.join(',')}`);
    await migrate({ url: other.href }, [migration(1, 'CREATE TABLE steps (n integer)')]);
    expect(await runSql(other.href, TABLES)).toHaveLength(2);
  });

  it('numbers its migrations without a gap', async () => {
    const folder = new URL('../../src/adapters/stores/postgres/migrations/', import.meta.url);
    expect((await readMigrations(folder)).length).toBeGreaterThan(0);
  });

  it('is durable also where the server is set up not to be', async () => {
    const url = await database.newUrl();
    await runSql(url, `ALTER DATABASE ${database.name} SET synchronous_commit = off`);
    expect(await migrate({ url }, [])).toEqual({ synchronous_commit: 'on' });
    await runSql(url, `ALTER DATABASE ${database.name} RESET synchronous_commit`);
    expect(await migrate({ url }, [])).toEqual({});
  });

  it('says that it is unavailable when nobody listens, the password is wrong, or there is no such database', async () => {
    const url = new URL(await database.newUrl());
    url.pathname = '/no_such_database';
    for (const wrong of ['postgres://postgres:hunter2@127.0.0.1:1/x', url.href]) {
      const opening = openPostgresStore({ url: wrong });
      await expect(opening).rejects.toThrow(StoreUnavailableError);
      await expect(opening).rejects.not.toThrow('hunter2');
    }
  });

  it('names DATABASE_URL when the file of its sslrootcert cannot be read', async () => {
    const url = new URL(await database.newUrl());
    url.password = 'hunter2';
    url.searchParams.set('sslrootcert', '/nowhere/ca.crt');
    const opening = openPostgresStore({ url: url.href });
    await expect(opening).rejects.toThrow(
      /the URL of PostgreSQL in DATABASE_URL .*ENOENT.*\/nowhere\/ca\.crt/,
    );
    await expect(opening).rejects.not.toThrow('hunter2');
  });

  it('is unavailable while that file is missing and another connection is needed, and recovers with it', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'diptych-test-'));
    const file = join(directory, 'ca.crt');
    writeFileSync(file, '');
    const url = new URL(await database.newUrl());
    // The file is read for each connection, although none is encrypted.
    url.searchParams.set('sslmode', 'disable');
    url.searchParams.set('sslrootcert', file);
    const connections = openConnections({ url: url.href, poolSize: 2 }, {});
    const runTwo = () => {
      const run = () => connections.run({ name: 'sleep', text: 'SELECT pg_sleep(0.05)' }, []);
      return Promise.allSettled([run(), run()]);
    };
    try {
      await connections.run({ name: 'one', text: 'SELECT 1' }, []);
      rmSync(file);
      const [first, second] = await runTwo();
      expect(first.status).toBe('fulfilled');
      expect(second).toMatchObject({
        status: 'rejected',
        reason: { name: 'StoreUnavailableError', message: expect.stringContaining(file) },
      });
      writeFileSync(file, '');
      expect((await runTwo()).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    } finally {
      await connections.close();
      rmSync(directory, { recursive: true });
    }
  });

  it('lets a store be closed twice, and by many', async () => {
    const store = await database.open();
    const write = store.saveSession(change(ID));
    await Promise.all([store.close(), store.close()]);
    await expect(write).resolves.toMatchObject({ kind: 'saved' });
    await store.close();
    await expect(store.check()).rejects.toThrow(StoreUnavailableError);
  });
});

function fail(): never {
  throw new Error('there is no such store');
}
