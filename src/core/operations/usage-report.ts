import { ago, count } from './usage-words.js';
import type { StoredKey } from '../ports/store.js';
import type { SurfaceSeen, UsageRow } from '../ports/usage-store.js';

const DAY_MS = 86_400_000;

/** One client with one App key on the legacy surface. Times are in milliseconds since the epoch. */
export interface LegacyUser {
  /** Its `Origin`, otherwise the product in its `User-Agent`; `none`: it sends neither; `other`: beyond the limit of distinct names. */
  readonly client: string;
  /** The App key that it sends; null: none, or an unknown one. */
  readonly key: { readonly id: string; readonly label: string } | null;
  readonly requests: number;
  readonly firstAt: number;
  readonly lastAt: number;
  /** Sorted by requests, descending. */
  readonly endpoints: readonly { readonly endpoint: string; readonly requests: number }[];
}

/** Number of requests on one day (UTC), by surface. */
export interface UsageDay {
  /** Start of the day, in milliseconds since the epoch. */
  readonly day: number;
  readonly current: number;
  readonly legacy: number;
}

/**
 * Whether the legacy surface may be switched off. `used`: it was used in the period; `unused`: it was not; `too_early`:
 * it was not, but counting began after the start of the period.
 */
export interface UsageVerdict {
  readonly kind: 'used' | 'unused' | 'too_early';
  /** The verdict in one sentence. */
  readonly text: string;
}

/** Who still uses the legacy surface, and whether it may be switched off. */
export interface UsageReport {
  readonly at: number;
  readonly days: number;
  /** When the first request of any surface was counted, as far as counts are retained; null: none. */
  readonly countingSince: number | null;
  /** When the legacy surface was last used; null: never. */
  readonly lastUsedAt: number | null;
  /** Most recently seen first. */
  readonly users: readonly LegacyUser[];
  /** Every day of the period in order, including days without requests. */
  readonly history: readonly UsageDay[];
  readonly verdict: UsageVerdict;
}

/**
 * Builds the report.
 * @param counted.rows may begin before the period: rows last seen before it are ignored
 */
export function reportUsage(counted: {
  readonly rows: readonly UsageRow[];
  readonly seen: readonly SurfaceSeen[];
  readonly keys: readonly Pick<StoredKey, 'id' | 'label'>[];
  readonly days: number;
  readonly at: number;
}): UsageReport {
  const { seen, keys, days, at } = counted;
  const since = at - days * DAY_MS;
  const rows = counted.rows.filter(({ lastAt }) => lastAt >= since);
  const users = usersOf(
    rows.filter(({ surface }) => surface === 'legacy'),
    new Map(keys.map(({ id, label }) => [id, label])),
  );
  const countingSince = seen.length === 0 ? null : Math.min(...seen.map(({ firstAt }) => firstAt));
  const lastUsedAt = seen.find(({ surface }) => surface === 'legacy')?.lastAt ?? null;
  return {
    ...{ at, days, countingSince, lastUsedAt, users },
    history: historyOf(rows, since, at),
    verdict: judge({ users, countingSince, lastUsedAt, days, at }),
  };
}

/** The display name of a user: the client, and the label or id of its key. */
export function nameOf({ client, key }: Pick<LegacyUser, 'client' | 'key'>): string {
  const named = { none: 'a client without a name', other: 'a client among too many names' }[client] ?? client;
  if (key === null) return named;
  return `${named} (key ${key.label === '' ? key.id : key.label})`;
}

function usersOf(rows: readonly UsageRow[], labels: ReadonlyMap<string, string>): LegacyUser[] {
  const groups = new Map<string, UsageRow[]>();
  for (const row of rows) {
    const id = JSON.stringify([row.client, row.keyId]);
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [row]);
    else group.push(row);
  }
  return [...groups.values()]
    .map((group) => userOf(group, labels))
    .sort((a, b) => b.lastAt - a.lastAt || (a.client < b.client ? -1 : 1));
}

function userOf(group: readonly UsageRow[], labels: ReadonlyMap<string, string>): LegacyUser {
  const endpoints = new Map<string, number>();
  for (const { endpoint, requests } of group) {
    endpoints.set(endpoint, (endpoints.get(endpoint) ?? 0) + requests);
  }
  const id = group[0]?.keyId ?? null;
  return {
    client: group[0]?.client ?? '',
    key: id === null ? null : { id, label: labels.get(id) ?? '' },
    requests: group.reduce((sum, { requests }) => sum + requests, 0),
    firstAt: Math.min(...group.map(({ firstAt }) => firstAt)),
    lastAt: Math.max(...group.map(({ lastAt }) => lastAt)),
    endpoints: [...endpoints]
      .map(([endpoint, requests]) => ({ endpoint, requests }))
      .sort((a, b) => b.requests - a.requests || (a.endpoint < b.endpoint ? -1 : 1)),
  };
}

function historyOf(rows: readonly UsageRow[], since: number, at: number): UsageDay[] {
  const sums = new Map<number, { day: number; current: number; legacy: number }>();
  for (let day = since - (since % DAY_MS); day <= at; day += DAY_MS) {
    sums.set(day, { day, current: 0, legacy: 0 });
  }
  for (const { day, surface, requests } of rows) {
    const sum = sums.get(day);
    if (sum !== undefined && surface !== 'field') sum[surface] += requests;
  }
  return [...sums.values()];
}

function judge(
  known: Pick<UsageReport, 'users' | 'countingSince' | 'lastUsedAt' | 'days' | 'at'>,
): UsageVerdict {
  const { users, countingSince, lastUsedAt, days, at } = known;
  const [last] = users;
  if (last !== undefined) {
    const used = users.length === 1 ? '1 client' : `${String(users.length)} clients`;
    const which = users.length === 1 ? 'it was' : 'the last one was';
    const text = `Not yet: ${used} used it in the last ${count(days, 'day')}; ${which} ${nameOf(last)}, ${ago(at - last.lastAt)}.`;
    return { kind: 'used', text };
  }
  if (countingSince === null) {
    return { kind: 'too_early', text: 'Too early to say: no request has been counted yet.' };
  }
  const began = `counting began ${ago(at - countingSince)}`;
  if (at - countingSince < days * DAY_MS) {
    const text = `Too early to say: nothing has used it in the last ${count(days, 'day')}, but ${began}.`;
    return { kind: 'too_early', text };
  }
  const quiet =
    lastUsedAt === null ? 'ever since' : `for ${count(Math.floor((at - lastUsedAt) / DAY_MS), 'day')}`;
  return { kind: 'unused', text: `It may go: nothing has used it ${quiet} (${began}).` };
}
