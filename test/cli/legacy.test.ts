import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { chartLines } from '../../src/cli/legacy-chart.js';
import { printReport } from '../../src/cli/legacy.js';
import type { Store } from '../../src/core/ports/store.js';
import { reportUsage } from '../../src/core/operations/usage-report.js';
import type { UsageRow } from '../../src/core/ports/usage-store.js';
import { describeWithPostgres, testDatabase } from '../support/postgres.js';
import { openTestSqlite } from '../support/sqlite.js';
import { Place } from './running.js';

jest.setTimeout(60_000);

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.clear());

function used(ago: number, fields: Partial<UsageRow> = {}): UsageRow {
  const at = Date.now() - ago;
  return {
    ...{ day: at - (at % DAY), surface: 'legacy', endpoint: 'POST /api/thread/chat', keyId: null },
    ...{ client: 'WalletApp', requests: 3, firstAt: at, lastAt: at },
    ...fields,
  };
}

async function fill(opening: Promise<Store>, rows: readonly UsageRow[]): Promise<void> {
  const store = await opening;
  await store.addUsage(rows);
  await store.close();
}

const inFile = (rows: readonly UsageRow[]) => fill(openTestSqlite({ path: place.database }), rows);

describe('legacy report', () => {
  it('reports what a running service counts, and keeps it after the service has stopped', async () => {
    const { running, url } = await place.serve();
    const headers = { 'User-Agent': 'WalletApp/2.1' };
    const state = await fetch(`${url}/api/session/models`, { headers });
    expect(state.status).toBe(200);
    running.child.kill('SIGTERM');
    expect(await running.ended).toBe(0);
    const { code, out, err } = await place.run(['legacy', 'report', '--days', '7']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('Not yet: 1 client used it in the last 7 days; it was WalletApp, just now.');
    expect(out).toMatch(/^WalletApp +1 +\d{4}-\d\d-\d\d +just now +GET \/api\/session\/models \(1\)$/m);
  });

  it('prints JSON and CSV beside a running service, and exits with 3 for --check while somebody uses it', async () => {
    await inFile([
      used(2 * HOUR),
      used(3 * HOUR, { surface: 'current', client: 'none', requests: 9 }),
      used(2 * DAY, { endpoint: 'GET /api/thread/state', requests: 5 }),
    ]);
    await place.serve();
    const { code, out, err } = await place.run(['legacy', 'report', '--json', '--days', '3', '--check']);
    expect({ code, err }).toEqual({ code: 3, err: '' });
    const report: unknown = JSON.parse(out);
    expect(report).toMatchObject({
      days: 3,
      verdict: { kind: 'used' },
      users: [
        {
          ...{ client: 'WalletApp', key: null, requests: 8 },
          endpoints: [
            { endpoint: 'GET /api/thread/state', requests: 5 },
            { endpoint: 'POST /api/thread/chat', requests: 3 },
          ],
        },
      ],
    });
    const csv = await place.run(['legacy', 'report', '--csv', '--days', '3']);
    expect(csv.code).toBe(0);
    expect(csv.out.split('\r\n').map((line) => line.split(',').slice(0, 5).join())).toEqual([
      'client,key_id,key_label,endpoint,requests',
      'WalletApp,,,GET /api/thread/state,5',
      'WalletApp,,,POST /api/thread/chat,3',
      '',
    ]);
    const both = await place.run(['legacy', 'report', '--csv', '--json']);
    expect(both.code).toBe(2);
  });

  it('exits with 0 for --check when it may go, and says when it is not exposed', async () => {
    await inFile([used(60 * DAY, { surface: 'current' }), used(34 * DAY)]);
    const { code, out } = await place.run(['legacy', 'report', '--check'], { env: { SURFACES: 'current' } });
    expect(code).toBe(0);
    expect(out).toBe(
      'May the legacy surface be switched off?\n' +
        'It may go: nothing has used it for 34 days (counting began 60 days ago).\n' +
        'This configuration does not expose it: SURFACES does not list it.\n',
    );
  });

  it('says when it is too early, and refuses what is no number of days', async () => {
    await inFile([]);
    const early = await place.run(['legacy', 'report', '--check']);
    expect(early.code).toBe(4);
    expect(early.out).toContain('Too early to say: no request has been counted yet.');
    for (const days of ['0', '401', '-1', 'many']) {
      const { code, err } = await place.run(['legacy', 'report', `--days=${days}`]);
      expect({ code, err }).toEqual({
        code: 2,
        err: 'diptych: --days takes a whole number from 1 to 400\n',
      });
    }
  });

  it('draws the shares on a terminal, and lets no name steer it', () => {
    const rows = [used(HOUR, { keyId: 'k' }), used(HOUR, { surface: 'current', requests: 9 })];
    const at = Date.now();
    const seen = [{ surface: 'legacy', firstAt: at, lastAt: at } as const];
    const report = reportUsage({ rows, seen, keys: [{ id: 'k', label: 'mo\u001Bbile' }], days: 1, at });
    for (const isTTY of [true, false]) {
      const output = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY });
      printReport({ output, env: {} }, report, true);
      const text = String(output.read());
      expect(text).toContain('it was WalletApp (key mo bile), 1 hour ago.\n');
      expect(/^\d{4}-\d\d-\d\d {2}▓{10}░{30} +3 of 12 \(25 %\)$/m.test(text)).toBe(isTTY);
    }
  });
});

describe('the chart', () => {
  const day = (n: number, current: number, legacy: number) => ({ day: n * DAY, current, legacy });

  it('shows each day from the first use on, and never hides a surface that was used', () => {
    expect(chartLines([day(0, 0, 0), day(1, 1_000, 1), day(2, 0, 0), day(3, 0, 10)])).toEqual([
      'Requests a day (UTC): ▓ legacy, ░ current',
      `1970-01-02  ▓${'░'.repeat(39)}  1 of 1001 (< 1 %)`,
      '1970-01-03',
      `1970-01-04  ▓${' '.repeat(40)} 10 of 10 (100 %)`,
    ]);
  });

  it('shows weeks of a longer time, the last one whole', () => {
    const [head, ...lines] = chartLines(Array.from({ length: 36 }, (_, n) => day(n, 1, 1)));
    expect(head).toBe('Requests a week (UTC): ▓ legacy, ░ current');
    expect(lines).toHaveLength(6);
    expect(lines[0]).toMatch(/^1970-01-01 .* 1 of 2 \(50 %\)$/);
    expect(lines[5]).toMatch(/^1970-01-30 .* 7 of 14 \(50 %\)$/);
  });
});

describeWithPostgres('legacy report on PostgreSQL', () => {
  const database = testDatabase();

  it('adds up what the nodes counted', async () => {
    const url = await database.newUrl();
    for (let node = 0; node < 2; node++) await fill(database.open({ url }), [used(HOUR)]);
    const env = { DATABASE_URL: url, SECRETS_KEY: Buffer.alloc(32).toString('base64') };
    const { code, out } = await place.run(['legacy', 'report'], { env });
    expect(code).toBe(0);
    expect(out).toMatch(/^WalletApp +6 /m);
  });
});
