import { hasKeyForm } from '../access/app-keys.js';
import type { Clock } from '../ports/clock.js';
import { clientNameOf, OTHER } from './usage-client.js';
import type { CountedSurface } from '../ports/usage-store.js';

/**
 * Counts one request of an endpoint. `client`: its `Origin`, otherwise its `User-Agent`; `key`: its App key; all as
 * sent.
 */
export type CountUse = (client: string | undefined, key: string | undefined) => void;

/** The count of requests with the same surface, endpoint, client and key. */
export interface Tally {
  readonly surface: CountedSurface;
  readonly endpoint: string;
  /** As sent; the client's product name if that is too long; `other` if there are too many tallies. */
  readonly client: string;
  /** As sent; empty: none, or a value that does not have the form of a key. */
  readonly key: string;
  requests: number;
  readonly firstAt: number;
  lastAt: number;
}

/** How many tallies are kept between two collections. */
const MAX_TALLIES = 2_000;
/** Length up to which a client's `Origin` or `User-Agent` is kept as sent. */
const MAX_CLIENT_CHARACTERS = 512;

/** Counts requests in memory. A repeated request costs two map lookups. */
export class Tallies {
  readonly #endpoints = new Map<string, Map<string, Map<string, Tally>>>();
  #count = 0;

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  /** Returns the counter of an endpoint. Create it once and call it for each request. */
  counter(surface: CountedSurface, endpoint: string): CountUse {
    const id = `${surface} ${endpoint}`;
    const clients = this.#endpoints.get(id) ?? new Map<string, Map<string, Tally>>();
    this.#endpoints.set(id, clients);
    return (client = '', key = '') => {
      const at = this.clock.now();
      const tally =
        clients.get(client)?.get(key) ?? this.#find(clients, { surface, endpoint, client, key }, at);
      tally.requests += 1;
      tally.lastAt = at;
    };
  }

  /** Returns and clears all tallies. */
  collect(): Tally[] {
    const all: Tally[] = [];
    for (const clients of this.#endpoints.values()) {
      for (const keys of clients.values()) all.push(...keys.values());
      clients.clear();
    }
    this.#count = 0;
    return all;
  }

  #find(
    clients: Map<string, Map<string, Tally>>,
    sent: Pick<Tally, 'surface' | 'endpoint' | 'client' | 'key'>,
    at: number,
  ): Tally {
    const isFull = this.#count >= MAX_TALLIES;
    const isLong = sent.client.length > MAX_CLIENT_CHARACTERS;
    const client = isFull ? OTHER : isLong ? clientNameOf(sent.client) : sent.client;
    const key = !isFull && hasKeyForm(sent.key) ? sent.key : '';
    const keys = clients.get(client) ?? new Map<string, Tally>();
    clients.set(client, keys);
    const known = keys.get(key);
    if (known !== undefined) return known;
    const tally = { ...sent, client, key, requests: 0, firstAt: at, lastAt: at };
    keys.set(key, tally);
    this.#count += 1;
    return tally;
  }
}
