import { describe, expect, it } from '@jest/globals';
import { nameOf, reportUsage } from '../../../src/core/operations/usage-report.js';
import type { UsageRow } from '../../../src/core/ports/usage-store.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = 20_000 * DAY + 12 * HOUR;

/** So many requests, the last of which was so long ago. */
function used(ago: number, fields: Partial<UsageRow> = {}): UsageRow {
  const at = NOW - ago;
  return {
    ...{ day: at - (at % DAY), surface: 'legacy', endpoint: 'POST /api/thread/chat', keyId: null },
    ...{ client: 'WalletApp', requests: 1, firstAt: at, lastAt: at },
    ...fields,
  };
}

/** The report over rows that are all that there is; `began`: when something else was first counted. */
function reportOf(rows: readonly UsageRow[], { days = 30, began = 60 * DAY } = {}) {
  const legacy = rows.filter(({ surface }) => surface === 'legacy').map(({ lastAt }) => lastAt);
  const seen = [
    { surface: 'current', firstAt: NOW - began, lastAt: NOW } as const,
    ...(legacy.length === 0
      ? []
      : [{ surface: 'legacy', firstAt: Math.min(...legacy), lastAt: Math.max(...legacy) } as const]),
  ];
  return reportUsage({ rows, seen, keys: [{ id: 'k1', label: 'mobile' }], days, at: NOW });
}

describe('the verdict on the legacy surface', () => {
  it.each([
    [
      'used by several',
      [used(2 * HOUR, { keyId: 'k1' }), used(3 * DAY, { client: 'curl' }), used(5 * DAY)],
      {},
      'used',
      'Not yet: 3 clients used it in the last 30 days; the last one was WalletApp (key mobile), 2 hours ago.',
    ],
    [
      'used by one, whose key is gone',
      [used(30_000, { keyId: 'k9' })],
      { days: 1 },
      'used',
      'Not yet: 1 client used it in the last 1 day; it was WalletApp (key k9), just now.',
    ],
    [
      'used by one without a name',
      [used(29 * DAY, { client: 'none' })],
      {},
      'used',
      'Not yet: 1 client used it in the last 30 days; it was a client without a name, 29 days ago.',
    ],
    [
      'not used for long',
      [used(34 * DAY)],
      {},
      'unused',
      'It may go: nothing has used it for 34 days (counting began 60 days ago).',
    ],
    [
      'never used',
      [used(HOUR, { surface: 'current' })],
      {},
      'unused',
      'It may go: nothing has used it ever since (counting began 60 days ago).',
    ],
    [
      'counted too shortly',
      [used(HOUR, { surface: 'current' })],
      { began: 30 * DAY - 1 },
      'too_early',
      'Too early to say: nothing has used it in the last 30 days, but counting began 29 days ago.',
    ],
    [
      'counted just long enough',
      [],
      { began: 30 * DAY },
      'unused',
      'It may go: nothing has used it ever since (counting began 30 days ago).',
    ],
    [
      'used at the very beginning of the time',
      [used(30 * DAY)],
      {},
      'used',
      'Not yet: 1 client used it in the last 30 days; it was WalletApp, 30 days ago.',
    ],
  ] as const)('%s', (_name, rows, options, kind, text) => {
    expect(reportOf([...rows], options).verdict).toEqual({ kind, text });
  });

  it('says nothing where nothing was counted', () => {
    const report = reportUsage({ rows: [], seen: [], keys: [], days: 30, at: NOW });
    expect(report.verdict.kind).toBe('too_early');
    expect(report).toMatchObject({ countingSince: null, lastUsedAt: null, users: [] });
  });
});

describe('the report', () => {
  it('groups by client and key, last seen first, and endpoints by their requests', () => {
    const { users } = reportOf([
      used(3 * DAY, { requests: 2 }),
      used(2 * DAY, { requests: 5, endpoint: 'GET /api/thread/state' }),
      used(DAY, { requests: 1 }),
      used(HOUR, { keyId: 'k1' }),
      used(HOUR, { surface: 'current', client: 'NewApp' }),
    ]);
    expect(users.map(nameOf)).toEqual(['WalletApp (key mobile)', 'WalletApp']);
    expect(users[1]).toEqual({
      ...{ client: 'WalletApp', key: null, requests: 8, firstAt: NOW - 3 * DAY, lastAt: NOW - DAY },
      endpoints: [
        { endpoint: 'GET /api/thread/state', requests: 5 },
        { endpoint: 'POST /api/thread/chat', requests: 3 },
      ],
    });
  });

  it('has every day of the time, with both surfaces', () => {
    const { history } = reportOf([used(DAY), used(HOUR, { surface: 'current', requests: 4 })], { days: 2 });
    const today = 20_000 * DAY;
    expect(history).toEqual([
      { day: today - 2 * DAY, current: 0, legacy: 0 },
      { day: today - DAY, current: 0, legacy: 1 },
      { day: today, current: 4, legacy: 0 },
    ]);
  });
});
