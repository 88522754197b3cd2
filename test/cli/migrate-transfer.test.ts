import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { nodeDigests } from '../../src/adapters/platform/node/digests.js';
import { openPostgresTransfer } from '../../src/adapters/stores/postgres/transfer.js';
import { SqliteDatabase } from '../../src/adapters/stores/sqlite/driver.js';
import { openSqliteTransfer } from '../../src/adapters/stores/sqlite/transfer.js';
import type { EventBody } from '../../src/core/model/event.js';
import type { Store } from '../../src/core/ports/store.js';
import { copyAll, summarize, type Transfer } from '../../src/core/ports/transfer.js';
import { TRANSFER_TABLES } from '../../src/core/ports/transfer-tables.js';
import { change, claimFree, LEASE, NO_PRUNE, sendAndClaim, T0 } from '../contracts/store-fixtures.js';
import { withFolder } from '../support/folder.js';
import { stage } from '../contracts/wallet-fixtures.js';
import { describeStore, fillStore, REVIVED, SESSIONS } from '../support/full-store.js';
import { describeWithPostgres, testDatabase } from '../support/postgres.js';
import { runSql } from '../support/run-sql.js';
import { openTestSqlite } from '../support/sqlite.js';

/** A database of one kind, from its making on. */
interface Kind {
  readonly name: string;
  /** A new place in the folder. */
  place(folder: string): Promise<string>;
  openStore(place: string): Promise<Store>;
  openTransfer(place: string): Promise<Transfer>;
}

const sqlite: Kind = {
  name: 'SQLite',
  place: (folder) => {
    places += 1;
    return Promise.resolve(join(folder, `${String(places)}.db`));
  },
  openStore: (path) => openTestSqlite({ path }),
  openTransfer: (path) => openSqliteTransfer(path, { mustExist: false }),
};
let places = 0;

const never = new AbortController().signal;
const silent = () => undefined;

async function using<T extends { close(): Promise<void> }, R>(
  opening: Promise<T>,
  run: (opened: T) => Promise<R>,
): Promise<R> {
  const opened = await opening;
  try {
    return await run(opened);
  } finally {
    await opened.close();
  }
}

function between<R>(
  from: readonly [Kind, string],
  to: readonly [Kind, string],
  run: (sides: { from: Transfer; to: Transfer }) => Promise<R>,
): Promise<R> {
  return using(from[0].openTransfer(from[1]), (source) =>
    using(to[0].openTransfer(to[1]), (target) => run({ from: source, to: target })),
  );
}

async function summaries(side: Transfer) {
  const entries: [string, { rows: number; digest: string }][] = [];
  for (const table of TRANSFER_TABLES) entries.push([table, await summarize(side, table, nodeDigests)]);
  return Object.fromEntries(entries);
}

/** The same is asked of every pair of databases. */
function copies(from: Kind, to: Kind): void {
  async function withSource(run: (folder: string, source: string) => Promise<void>): Promise<void> {
    await withFolder(async (folder) => {
      const source = await from.place(folder);
      await using(from.openStore(source), fillStore);
      await run(folder, source);
    });
  }

  it('a copy says in every way what its source says, and goes on as it would', () =>
    withSource(async (folder, source) => {
      const target = await to.place(folder);
      await between([from, source], [to, target], async (sides) => {
        const done = await copyAll(sides, never, silent);
        expect(done.map(({ table }) => table)).toEqual(TRANSFER_TABLES);
        for (const { copied, ...others } of done) {
          expect(copied).toBeGreaterThan(0);
          expect(others).toMatchObject({ present: 0, different: 0, extra: 0 });
        }
        await sides.to.settle();
        expect(await summaries(sides.to)).toEqual(await summaries(sides.from));
      });
      const expected = await using(from.openStore(source), describeStore);
      await using(to.openStore(target), async (store) => {
        expect(await describeStore(store)).toEqual(expected);
        // What a crash left unfinished is claimed at once, with its text; its lease was not copied.
        const [turn, ...rest] = await claimFree(store, LEASE, 10);
        expect(rest).toEqual([]);
        expect(turn).toMatchObject({ partialText: expect.stringContaining('half a'), attempt: 2 });
        // Ids go on from where they were.
        const [first = ''] = SESSIONS;
        const before = await store.readEvents(first, 0, 1_000);
        const commit = await store.appendEvents(first, [{ type: 'system_notice', message: 'here' }], 1);
        expect(commit?.events).toMatchObject([{ id: before.lastId + 1 }]);
        expect((await sendAndClaim(store, first)).no).toBe(2);
        expect((await stage(store, REVIVED)).id).toBe(3);
      });
    }));

  it('trims a copied log as the service trims one that it has written', () =>
    withFolder(async (folder) => {
      const [source, target, id] = [await from.place(folder), await to.place(folder), randomUUID()];
      const events = Array<EventBody>(70).fill({ type: 'title_changed', title: 'Long' });
      await using(from.openStore(source), (store) => store.saveSession(change(id, { events })));
      await between([from, source], [to, target], (sides) => copyAll(sides, never, silent));
      await using(to.openStore(target), async (store) => {
        await store.prune({ ...NO_PRUNE, eventsKept: 5, eventsSince: T0 + 1 });
        expect(await store.readEvents(id, 0, 1)).toMatchObject({ oldestId: 66, lastId: 70 });
      });
    }));

  it('cut off at any insert, it goes on where it was; what is there is recognised', () =>
    withSource(async (folder, source) => {
      const target = await to.place(folder);
      await between([from, source], [to, target], async (sides) => {
        // The line is lost at each insert in turn: of every run one table gets through.
        for (const { length } = TRANSFER_TABLES; ;) {
          let inserts = 0;
          const breaking: Transfer = {
            ...sides.to,
            insert: (table, rows) => {
              inserts += 1;
              return inserts > 1
                ? Promise.reject(new Error('the line is lost'))
                : sides.to.insert(table, rows);
            },
          };
          const outcome = await copyAll({ from: sides.from, to: breaking }, never, silent).catch(String);
          if (typeof outcome !== 'string') {
            expect(outcome).toHaveLength(length);
            expect(outcome.at(0)).toMatchObject({ table: 'sessions', copied: 0, present: 16 });
            break;
          }
          expect(outcome).toContain('the line is lost');
        }
        expect(await summaries(sides.to)).toEqual(await summaries(sides.from));
      });
    }));

  it('leaves tables out when it is stopped, and completes when it is started again', () =>
    withSource(async (folder, source) => {
      const target = await to.place(folder);
      await between([from, source], [to, target], async (sides) => {
        const stop = new AbortController();
        const half = await copyAll(sides, stop.signal, (table) => {
          if (table === 'turns') stop.abort();
        });
        expect(half.map(({ table }) => table)).toEqual(['sessions', 'turns']);
        const [sessions, turns, messages] = await copyAll(sides, never, silent);
        expect(sessions).toMatchObject({ copied: 0, present: 16 });
        expect(turns).toMatchObject({ copied: 0 });
        expect(messages).toMatchObject({ present: 0 });
        expect(await summaries(sides.to)).toEqual(await summaries(sides.from));
      });
    }));

  it('is compared until it is stopped', () =>
    withSource(async (_, source) => {
      const stopped = AbortSignal.abort(new Error('stopped'));
      await using(from.openTransfer(source), async (side) => {
        await expect(summarize(side, 'sessions', nodeDigests, stopped)).rejects.toThrow('stopped');
      });
    }));

  it('reports what the target already contains, and leaves it alone', () =>
    withSource(async (folder, source) => {
      const target = await to.place(folder);
      await between([from, source], [to, target], (sides) => copyAll(sides, never, silent));
      const [first = '', second = ''] = SESSIONS;
      const stranger = '00000000-0000-4000-8000-000000000000';
      await using(to.openStore(target), async (store) => {
        await store.deleteSession(second, 5);
        await store.saveSession({
          ...{ id: first, ifMissing: 'refuse', events: [], isActivity: false, at: 5 },
          set: { title: 'Changed here' },
        });
        await store.saveSession({
          ...{ id: stranger, ifMissing: 'create', set: {}, events: [], isActivity: false, at: 5 },
        });
      });
      await between([from, source], [to, target], async (sides) => {
        const [sessions] = await copyAll(sides, never, silent);
        expect(sessions).toMatchObject({ copied: 0, present: 14, different: 2, extra: 1 });
        const [there, here] = [await summaries(sides.from), await summaries(sides.to)];
        expect(here.sessions?.digest).not.toBe(there.sessions?.digest);
        expect(here.secrets).toEqual(there.secrets);
      });
      const titles = await using(to.openStore(target), (store) =>
        store.listSessions({ limit: 100, after: null }),
      );
      expect(titles.find(({ id }) => id === first)?.title).toBe('Changed here');
    }));

  it('knows turns that somebody works on from turns that were left', () =>
    withSource(async (_folder, source) => {
      await using(from.openTransfer(source), async (side) => {
        expect(await side.openTurns(LEASE.milliseconds)).toEqual({ open: 2, held: 0 });
      });
      await using(from.openStore(source), (store) => sendAndClaim(store, SESSIONS[0] ?? ''));
      await using(from.openTransfer(source), async (side) => {
        expect(await side.openTurns(LEASE.milliseconds)).toEqual({ open: 3, held: 1 });
        // The clock was set back since the lease was granted: its end is further ahead than any lease is long.
        expect(await side.openTurns(LEASE.milliseconds - 60_000)).toEqual({ open: 3, held: 0 });
      });
    }));
}

describe('from SQLite to SQLite', () => {
  copies(sqlite, sqlite);

  it('a source that is not there is a mistake, and is not made', () =>
    withFolder(async (folder) => {
      const opening = openSqliteTransfer(join(folder, 'none.db'), { mustExist: true });
      await expect(opening).rejects.toThrow(/there is no database .*none\.db/);
    }));
});

describeWithPostgres('with PostgreSQL', () => {
  const database = testDatabase();
  const postgres: Kind = {
    name: 'PostgreSQL',
    place: () => database.newUrl(),
    openStore: (url) => database.open({ url }),
    openTransfer: (url) => openPostgresTransfer(url, { mustExist: false }),
  };

  describe('from SQLite to PostgreSQL', () => {
    copies(sqlite, postgres);
  });
  describe('from PostgreSQL to SQLite', () => {
    copies(postgres, sqlite);
  });

  it('a source without data is a mistake, and gets no tables', async () => {
    const url = await database.newUrl();
    await expect(openPostgresTransfer(url, { mustExist: true })).rejects.toThrow(/no data of Diptych/);
    expect(await runSql(url, "SELECT to_regclass('sessions') AS found")).toEqual([{ found: null }]);
  });

  it('names the row that PostgreSQL refuses, after it has copied those before it', () =>
    withFolder(async (folder) => {
      const source = await sqlite.place(folder);
      await using(sqlite.openStore(source), fillStore);
      const db = new SqliteDatabase(source);
      const [last] = db
        .prepare<[], { ref: number; key: string }>(
          `SELECT m.ref, concat_ws(', ', s.id, m.turn_no, m.position) AS key
            FROM messages m JOIN sessions s ON s.ref = m.session
            ORDER BY s.id DESC, m.turn_no DESC, m.position DESC LIMIT 1`,
        )
        .all();
      db.prepare("UPDATE messages SET tool_calls = '{damaged' WHERE ref = ?").run(last?.ref);
      const count = Number(db.prepare('SELECT count(*) FROM messages').pluck().get());
      db.close();
      const target = await postgres.place(folder);
      await between([sqlite, source], [postgres, target], async (sides) => {
        await expect(copyAll(sides, never, silent)).rejects.toThrow(
          `cannot copy the row of messages with the key ${last?.key ?? ''}: PostgreSQL refused a statement (22P02)`,
        );
      });
      expect(await runSql(target, 'SELECT count(*)::integer AS copied FROM messages')).toEqual([
        { copied: count - 1 },
      ]);
    }));

  it('counts the rows that belong to no session', async () => {
    const url = await database.newUrl();
    await using(openPostgresTransfer(url, { mustExist: false }), async (side) => {
      await runSql(url, "INSERT INTO events (session, id, at, body) VALUES (987654, 1, 1, '{}')");
      expect(await side.orphans('events')).toBe(1);
      expect(await side.orphans('turns')).toBe(0);
      expect(await side.orphans('app_keys')).toBe(0);
    });
  });

  it('rows of unknown sessions are refused, not dropped', async () => {
    await using(openPostgresTransfer(await database.newUrl(), { mustExist: false }), async (side) => {
      const orphan = ['6f1ff4a2-1f0a-4a53-9a3c-000000000099', 1, 0, '{}'];
      await expect(side.insert('events', [orphan])).rejects.toThrow(/sessions that do not exist/);
    });
  });
});
