import { describe, expect, it } from '@jest/globals';
import { SqliteDatabase as Database } from '../../src/adapters/stores/sqlite/driver.js';
import { createReads } from '../../src/adapters/stores/sqlite/reads/reads.js';
import { migrate, readMigrations } from '../../src/adapters/stores/sqlite/migrate.js';
import { createTailReader } from '../../src/adapters/stores/sqlite/reads/tails.js';
import { createThreadReader } from '../../src/adapters/stores/sqlite/reads/threads.js';
import { createWalletReads } from '../../src/adapters/stores/sqlite/reads/wallet-reads.js';
import { createWrites } from '../../src/adapters/stores/sqlite/writes/writes.js';

/** Statements that walk a whole table, and may: it is small, or the walk is bounded by a LIMIT along a key. */
/** Small tables of which all rows are wanted: of open calls there are as many as run now. Of failures few are kept. */
const MAY_SCAN = [
  ...[/^SELECT \* FROM app_keys ORDER BY/, /^SELECT at FROM probe/, /FROM open_calls$/],
  ...[/^DELETE FROM failures .* LIMIT -1 OFFSET \?\)$/s, /^UPDATE failures SET of_session = ''/],
];

/** What SQLite does for a statement. */
interface Plan {
  /** How it reads. */
  readonly details: readonly string[];
  /** Whether it makes a table of its own, in memory, each time. */
  readonly makesTable: boolean;
}

/** Every statement that the store prepares, with SQLite's plan for it. */
function plans(): Map<string, Plan> {
  const db = new Database(':memory:');
  migrate(db, readMigrations(new URL('../../src/adapters/stores/sqlite/migrations/', import.meta.url)));
  const sources = new Set<string>();
  const recorder = new Proxy(db, {
    get(target, name) {
      if (name === 'prepare') {
        return (source: string) => {
          sources.add(source);
          return target.prepare(source);
        };
      }
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  createReads(recorder);
  createThreadReader(recorder);
  createTailReader(recorder);
  createWalletReads(recorder);
  createWrites(recorder);
  const found = new Map<string, Plan>();
  for (const source of sources) {
    const places = (source.match(/\?/g) ?? []).map(() => null);
    const names = Object.fromEntries((source.match(/@\w+/g) ?? []).map((name) => [name.slice(1), null]));
    const values: unknown[] = places.length > 0 ? places : Object.keys(names).length > 0 ? [names] : [];
    const details = db
      .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${source}`)
      .all(...values)
      .map(({ detail }) => detail);
    const makesTable = db
      .prepare<unknown[], { opcode: string }>(`EXPLAIN ${source}`)
      .all(...values)
      .some(({ opcode }) => opcode === 'OpenEphemeral');
    found.set(source, { details, makesTable });
  }
  db.close();
  return found;
}

describe('the statements of the SQLite store', () => {
  const all = plans();

  it('are all found', () => {
    expect(all.size).toBeGreaterThan(40);
  });

  it('read by an index, never a whole table, and never sort', () => {
    const slow = [...all].filter(([source, { details: plan }]) => {
      if (MAY_SCAN.some((pattern) => pattern.test(source.trim()))) return false;
      const scans = plan.filter(
        (step) => step.startsWith('SCAN ') && !/USING (COVERING )?INDEX|^SCAN CONSTANT ROW$/.test(step),
      );
      return scans.length > 0 || plan.some((step) => step.includes('TEMP B-TREE'));
    });
    expect(slow).toEqual([]);
  });

  it('find the sessions of a wallet by its index', () => {
    const lists = [...all].filter(([source]) => /FROM sessions\s+WHERE.*wallet = \?/s.test(source));
    expect(lists).toHaveLength(2);
    for (const [, { details }] of lists) {
      expect(details).toEqual([expect.stringMatching(/^SEARCH sessions USING INDEX threads_of_wallet/)]);
    }
  });

  it('count the failures of a thread from an index, without its messages', () => {
    const counts = [...all].filter(([source]) => source.startsWith('SELECT count(*) FROM messages'));
    expect(counts.map(([, { details }]) => details)).toEqual([
      [expect.stringMatching(/^SEARCH messages USING COVERING INDEX failures_of_session /)],
    ]);
  });

  it('find wallet requests by the index made for it', () => {
    const indexes = {
      open_wallet_requests: /AND r\.expires_at <= \?/,
      open_wallet_requests_of_session: /FROM wallet_requests WHERE session = \? AND state IN/,
      wallet_requests_by_wallet: /SELECT value FROM wallet_requests/,
      wallet_requests_by_proof: /r\.proof = @hash/,
      past_transactions_by_wallet: /SELECT value FROM past_transactions/,
      past_transactions_by_proof: /FROM past_transactions .*proof = @hash/,
      past_transactions_by_age: /FROM past_transactions WHERE requested_at < \?/,
      wallet_requests_by_turn: /WHERE turn_id = \?/,
    };
    for (const [index, pattern] of Object.entries(indexes)) {
      const found = [...all].filter(([source]) => pattern.test(source));
      expect([index, found.length > 0]).toEqual([index, true]);
      for (const [, { details }] of found) {
        expect(details.join(', ')).toMatch(new RegExp(`USING (COVERING )?INDEX ${index} `));
      }
    }
  });

  it('write without a table of their own, which checks of three values and more would make', () => {
    const writes = [...all].filter(
      ([source]) => /^\s*(INSERT|UPDATE)/.test(source) && !source.includes('RETURNING'),
    );
    expect(writes.length).toBeGreaterThan(15);
    const made = writes.filter(([, { makesTable }]) => makesTable).map(([source]) => source);
    // A copy of rows into their own table needs one: both of a branch.
    const copies = made.filter((source) => /^INSERT INTO (\w+) .*SELECT .* FROM \1 /s.test(source));
    expect([made, copies.length]).toEqual([copies, 2]);
  });

  it('bind no bare LIMIT, for which SQLite would compile them again at each run', () => {
    const bare = [...all.keys()].filter((source) => /LIMIT\s*[?@:$]/i.test(source));
    expect(bare).toEqual([]);
  });
});
