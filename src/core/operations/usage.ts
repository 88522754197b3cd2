import type { Clock } from '../ports/clock.js';
import type { Digests } from '../ports/digests.js';
import type { Log } from '../ports/log.js';
import type { Store } from '../ports/store.js';
import { PeriodicFlush } from './periodic-flush.js';
import { ClientNames, clientNameOf, OTHER } from './usage-client.js';
import { reportUsage, type UsageReport } from './usage-report.js';
import type { CountedSurface, UsageRow } from '../ports/usage-store.js';
import { Tallies, type CountUse } from './usage-tally.js';

const EVERY_MS = 5_000;
const DAY_MS = 86_400_000;
/** Client names counted within this time keep their place among the distinct names. */
const NAMES_MS = 30 * DAY_MS;
/** How many rows are buffered while the store is unavailable; further ones are merged under `other`. */
const MAX_WAITING = 5_000;

/** A row whose App key has not been resolved to an id yet. */
type WaitingRow = Omit<UsageRow, 'keyId'> & {
  /** Hash of the App key; empty: no key. */
  readonly digest: string;
};

/** The dependencies of `Usage`. */
export interface UsageParts {
  readonly store: Pick<Store, 'addUsage' | 'readUsage' | 'readUsageClients' | 'listKeys'>;
  readonly clock: Clock;
  readonly digests: Pick<Digests, 'sha256'>;
  readonly log: Log;
}

/** Counts requests in memory, and adds the counts to the store every few seconds. */
export class Usage {
  readonly #tallies: Tallies;
  readonly #waiting = new Map<string, WaitingRow>();
  readonly #keyIds = new Map<string, string>();
  #names: { readonly day: number; readonly known: ClientNames } | undefined;
  readonly #flushes: PeriodicFlush;
  #isFailing = false;

  constructor(private readonly parts: UsageParts) {
    this.#tallies = new Tallies(parts.clock);
    this.#flushes = new PeriodicFlush(parts.clock, EVERY_MS, () => this.#flush());
  }

  /** Returns the counter of an endpoint. Create it once and call it for each request; it never throws. */
  counter(surface: CountedSurface, endpoint: string): CountUse {
    return this.#tallies.counter(surface, endpoint);
  }

  start(): void {
    this.#flushes.start();
  }

  /** Adds the counts to the store. Never rejects: counts that could not be stored are kept and retried. */
  flush(): Promise<void> {
    return this.#flushes.flush();
  }

  /** Stops the timer and flushes one last time. */
  close(): Promise<void> {
    return this.#flushes.close();
  }

  /** Reports who used the legacy surface in the last `days` days, including counts that were not stored yet. */
  async report({ days }: { readonly days: number }): Promise<UsageReport> {
    await this.flush();
    return readReport(this.parts.store, { days, at: this.parts.clock.now() });
  }

  async #flush(): Promise<void> {
    this.#collect();
    if (this.#waiting.size === 0) return;
    const { store, log } = this.parts;
    try {
      await store.addUsage(await this.#rows());
      this.#waiting.clear();
      this.#isFailing = false;
    } catch (error) {
      // Logged once per outage, not for every retry: the store raises its own alarms.
      if (!this.#isFailing) log.warn({ err: error }, 'failed to store request counts, retrying');
      this.#isFailing = true;
    }
  }

  #collect(): void {
    for (const { client: sent, key, ...tally } of this.#tallies.collect()) {
      const day = tally.firstAt - (tally.firstAt % DAY_MS);
      const client = clientNameOf(sent);
      const row = { ...tally, day, client, digest: key === '' ? '' : this.parts.digests.sha256(key) };
      const isKnown = this.#waiting.has(idOf(row));
      this.#wait(isKnown || this.#waiting.size < MAX_WAITING ? row : { ...row, client: OTHER, digest: '' });
    }
  }

  #wait(row: WaitingRow): void {
    const id = idOf(row);
    const there = this.#waiting.get(id);
    this.#waiting.set(id, there === undefined ? row : { ...row, ...sumOf(there, row) });
  }

  /** Returns the buffered rows with key ids and admitted client names, merged where these are equal. */
  async #rows(): Promise<UsageRow[]> {
    const waiting = [...this.#waiting.values()];
    await this.#findKeys(waiting);
    const names = await this.#clientNames();
    const rows = new Map<string, UsageRow>();
    for (const { digest, ...row } of waiting) {
      const keyId = this.#keyIds.get(digest) ?? null;
      const client = names.admit(row.client, keyId !== null);
      const id = JSON.stringify([row.day, row.surface, row.endpoint, keyId, client]);
      const there = rows.get(id);
      rows.set(id, { ...row, keyId, client, ...(there !== undefined && sumOf(there, row)) });
    }
    return [...rows.values()];
  }

  /** Loads the App keys when an unknown one was sent. Made-up keys cost at most one read per flush. */
  async #findKeys(rows: readonly WaitingRow[]): Promise<void> {
    const isNew = ({ digest }: WaitingRow) => digest !== '' && !this.#keyIds.has(digest);
    if (!rows.some(isNew)) return;
    for (const { digest, id } of await this.parts.store.listKeys()) this.#keyIds.set(digest, id);
  }

  /** Reloaded each day, so that names no longer in use make room for new ones. */
  async #clientNames(): Promise<ClientNames> {
    const now = this.parts.clock.now();
    const day = now - (now % DAY_MS);
    if (this.#names?.day !== day) {
      const known = new ClientNames(await this.parts.store.readUsageClients(day - NAMES_MS));
      this.#names = { day, known };
    }
    return this.#names.known;
  }
}

/** Builds the report from the counts in a store. */
export async function readReport(
  store: Pick<Store, 'readUsage' | 'listKeys'>,
  { days, at }: { readonly days: number; readonly at: number },
): Promise<UsageReport> {
  const since = at - days * DAY_MS;
  const [usage, keys] = await Promise.all([store.readUsage(since - (since % DAY_MS)), store.listKeys()]);
  return reportUsage({ ...usage, keys, days, at });
}

function idOf({ day, surface, endpoint, digest, client }: WaitingRow): string {
  return JSON.stringify([day, surface, endpoint, digest, client]);
}

type Counts = Pick<UsageRow, 'requests' | 'firstAt' | 'lastAt'>;

/** Adds two counts of the same kind of requests. */
export function sumOf(a: Counts, b: Counts): Counts {
  return {
    requests: a.requests + b.requests,
    firstAt: Math.min(a.firstAt, b.firstAt),
    lastAt: Math.max(a.lastAt, b.lastAt),
  };
}
