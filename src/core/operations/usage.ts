import type { Clock } from '../ports/clock.js';
import type { Digests } from '../ports/digests.js';
import type { Log } from '../ports/log.js';
import type { Store } from '../ports/store.js';
import { ClientNames, OTHER, productOf } from './usage-client.js';
import { reportUsage, type UsageReport } from './usage-report.js';
import type { CountedSurface, UsageRow } from '../ports/usage-store.js';
import { Tallies, type CountUse } from './usage-tally.js';

const EVERY_MS = 5_000;
const DAY_MS = 86_400_000;
/** Names of clients that were counted in this time keep their place. */
const NAMES_MS = 30 * DAY_MS;
/** How many rows are held while the store does not take them. */
const MAX_WAITING = 5_000;

/** A row whose key is not looked up yet. */
type WaitingRow = Omit<UsageRow, 'keyId'> & {
  /** Empty: none. */
  readonly digest: string;
};

/** What counting needs. */
export interface UsageParts {
  readonly store: Pick<Store, 'addUsage' | 'readUsage' | 'readUsageClients' | 'listKeys'>;
  readonly clock: Clock;
  readonly digests: Pick<Digests, 'sha256'>;
  readonly log: Log;
}

/** Counts requests in memory, and adds them to the store every few seconds. */
export class Usage {
  readonly #tallies: Tallies;
  readonly #waiting = new Map<string, WaitingRow>();
  readonly #keyIds = new Map<string, string>();
  #names: { readonly day: number; readonly known: ClientNames } | undefined;
  #cancel: (() => void) | undefined;
  #flushing: Promise<void> = Promise.resolve();
  #isFailing = false;

  constructor(private readonly parts: UsageParts) {
    this.#tallies = new Tallies(parts.clock);
  }

  /** The counter of an endpoint: made once, called for each request. Never fails. */
  counter(surface: CountedSurface, endpoint: string): CountUse {
    return this.#tallies.counter(surface, endpoint);
  }

  start(): void {
    this.#cancel ??= this.parts.clock.every(EVERY_MS, () => void this.flush());
  }

  /** Adds what was counted to the store. Never rejects: what the store does not take is kept, and tried again. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#flush());
    return this.#flushing;
  }

  /** Flushes a last time. */
  async close(): Promise<void> {
    this.#cancel?.();
    await this.flush();
  }

  /** Who used the legacy surface in the last so many days, with what was counted up to now. */
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
      // Once, not every few seconds: the store has alarms of its own.
      if (!this.#isFailing) log.warn({ err: error }, 'counts of requests could not be stored, trying again');
      this.#isFailing = true;
    }
  }

  #collect(): void {
    for (const { userAgent, key, ...tally } of this.#tallies.collect()) {
      const day = tally.firstAt - (tally.firstAt % DAY_MS);
      const client = productOf(userAgent);
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

  /** What waits, with keys and names as they are stored. */
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

  /** Reads the keys when one was sent that is not known. Made-up ones cost one read a flush. */
  async #findKeys(rows: readonly WaitingRow[]): Promise<void> {
    const isNew = ({ digest }: WaitingRow) => digest !== '' && !this.#keyIds.has(digest);
    if (!rows.some(isNew)) return;
    for (const { digest, id } of await this.parts.store.listKeys()) this.#keyIds.set(digest, id);
  }

  /** Begun anew each day, so that names that are gone make room. */
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

/** The report as a store has it. */
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

/** Counts of the same requests, taken together. */
export function sumOf(a: Counts, b: Counts): Counts {
  return {
    requests: a.requests + b.requests,
    firstAt: Math.min(a.firstAt, b.firstAt),
    lastAt: Math.max(a.lastAt, b.lastAt),
  };
}
