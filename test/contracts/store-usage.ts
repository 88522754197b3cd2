import { describe, expect, it } from '@jest/globals';
import type { UsageRow } from '../../src/core/ports/usage-store.js';
import { NO_PRUNE, T0, type WithStore } from './store-fixtures.js';

const DAY = 86_400_000;
const TODAY = T0 - (T0 % DAY);

function row(fields: Partial<UsageRow> = {}): UsageRow {
  return {
    ...{ day: TODAY, surface: 'legacy', endpoint: 'POST /api/thread/chat', keyId: null, client: 'WalletApp' },
    ...{ requests: 1, firstAt: TODAY + 10, lastAt: TODAY + 10 },
    ...fields,
  };
}

/** How requests are counted. */
export function usageContract(withStore: WithStore): void {
  describe('counts of requests', () => {
    it(
      'add up, also those of one batch, and their times widen',
      withStore(async (store) => {
        await store.addUsage([]);
        expect(await store.readUsage(0)).toEqual({ rows: [], seen: [] });
        await store.addUsage([row({ requests: 2 }), row({ firstAt: TODAY + 5, lastAt: TODAY + 5 })]);
        await Promise.all(
          [20, 7].map((at) =>
            store.addUsage([row({ requests: 3, firstAt: TODAY + at, lastAt: TODAY + at })]),
          ),
        );
        const sum = row({ requests: 9, firstAt: TODAY + 5, lastAt: TODAY + 20 });
        expect((await store.readUsage(TODAY)).rows).toEqual([sum]);
      }),
    );

    it(
      'are kept apart by day, surface, endpoint, key and client, and come back in that order',
      withStore(async (store) => {
        const rows = [
          row({ day: TODAY - DAY, firstAt: TODAY - 5, lastAt: TODAY - 5 }),
          row({ surface: 'current', endpoint: 'GET /api/state' }),
          row({ surface: 'field', endpoint: 'GET /api/state' }),
          row({ endpoint: 'GET /api/thread/state' }),
          row({ client: 'A' }),
          row({ client: 'WalletApp' }),
          row({ client: 'a' }),
          row({ keyId: 'key-1' }),
        ];
        await store.addUsage([...rows].reverse());
        expect((await store.readUsage(0)).rows).toEqual(rows);
        expect((await store.readUsage(TODAY)).rows).toEqual(rows.slice(1));
        expect(await store.readUsageClients(0)).toEqual(['A', 'WalletApp', 'a']);
        expect(await store.readUsageClients(TODAY + DAY)).toEqual([]);
      }),
    );

    it(
      'say when each surface was used, of all that is kept, and are forgotten by days',
      withStore(async (store) => {
        await store.addUsage([
          row({ day: TODAY - DAY, firstAt: TODAY - 5, lastAt: TODAY - 4 }),
          row({ firstAt: TODAY + 1, lastAt: TODAY + 2 }),
          row({ surface: 'current', firstAt: TODAY + 3, lastAt: TODAY + 4 }),
        ]);
        const current = { surface: 'current', firstAt: TODAY + 3, lastAt: TODAY + 4 };
        expect((await store.readUsage(TODAY + DAY)).seen).toEqual([
          current,
          { surface: 'legacy', firstAt: TODAY - 5, lastAt: TODAY + 2 },
        ]);
        await store.prune({ ...NO_PRUNE, usageBefore: TODAY });
        expect((await store.readUsage(0)).seen).toEqual([
          current,
          { surface: 'legacy', firstAt: TODAY + 1, lastAt: TODAY + 2 },
        ]);
      }),
    );

    it(
      'are forgotten however many there are, which takes several steps',
      withStore(async (store) => {
        const clients = Array.from({ length: 4_100 }, (_, n) => `client ${String(n)}`);
        await store.addUsage(clients.map((client) => row({ day: TODAY - DAY, client })));
        await store.addUsage([row()]);
        await store.prune({ ...NO_PRUNE, usageBefore: TODAY });
        expect((await store.readUsage(0)).rows).toEqual([row()]);
      }),
    );
  });
}
