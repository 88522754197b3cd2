import { hasKeyForm } from '../access/app-keys.js';
import type { Clock } from '../ports/clock.js';
import { OTHER } from './usage-client.js';
import type { CountedSurface } from '../ports/usage-store.js';

/** Counts one request of an endpoint: by the client's `User-Agent` and its App key, both as sent. */
export type CountUse = (userAgent: string | undefined, key: string | undefined) => void;

/** Requests that have everything in common. */
export interface Tally {
  readonly surface: CountedSurface;
  readonly endpoint: string;
  /** As sent; `other` without looking at it when there are too many. */
  readonly userAgent: string;
  /** As sent; empty: none, or nothing that can be one. */
  readonly key: string;
  requests: number;
  readonly firstAt: number;
  lastAt: number;
}

/** How many different tallies are held between two collections, and how long a `User-Agent` is looked at. */
const MAX_TALLIES = 2_000;
const MAX_AGENT_CHARACTERS = 512;

/** Counts in memory. One request that is like another one before it costs two lookups. */
export class Tallies {
  readonly #endpoints = new Map<string, Map<string, Map<string, Tally>>>();
  #count = 0;

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  /** The counter of an endpoint: made once, called for each request. */
  counter(surface: CountedSurface, endpoint: string): CountUse {
    const id = `${surface} ${endpoint}`;
    const agents = this.#endpoints.get(id) ?? new Map<string, Map<string, Tally>>();
    this.#endpoints.set(id, agents);
    return (userAgent = '', key = '') => {
      const at = this.clock.now();
      const tally =
        agents.get(userAgent)?.get(key) ?? this.#find(agents, { surface, endpoint, userAgent, key }, at);
      tally.requests += 1;
      tally.lastAt = at;
    };
  }

  /** All tallies since the last call. */
  collect(): Tally[] {
    const all: Tally[] = [];
    for (const agents of this.#endpoints.values()) {
      for (const keys of agents.values()) all.push(...keys.values());
      agents.clear();
    }
    this.#count = 0;
    return all;
  }

  #find(
    agents: Map<string, Map<string, Tally>>,
    sent: Pick<Tally, 'surface' | 'endpoint' | 'userAgent' | 'key'>,
    at: number,
  ): Tally {
    const isFull = this.#count >= MAX_TALLIES;
    const userAgent = isFull || sent.userAgent.length > MAX_AGENT_CHARACTERS ? OTHER : sent.userAgent;
    const key = !isFull && hasKeyForm(sent.key) ? sent.key : '';
    const keys = agents.get(userAgent) ?? new Map<string, Tally>();
    agents.set(userAgent, keys);
    const known = keys.get(key);
    if (known !== undefined) return known;
    const tally = { ...sent, userAgent, key, requests: 0, firstAt: at, lastAt: at };
    keys.set(key, tally);
    this.#count += 1;
    return tally;
  }
}
