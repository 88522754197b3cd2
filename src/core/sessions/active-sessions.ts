import type { Clock } from '../ports/clock.js';
import type { CachedSession } from './cached-session.js';

/** The limits of the cache: the number of sessions, and the characters of their messages. */
const MAX_ACTIVE = 10_000;
const MAX_WEIGHT = 64 * 1_048_576;
/** An eviction goes down to this share of the limits. */
const KEPT_SHARE = 0.95;
/** The interval between evictions while the cache is within its limits, or when nothing more can be evicted. */
const EVICTION_MS = 1_000;
/**
 * How long a session with an open turn is kept after its last use. A turn of this process is pinned for as long as it
 * runs; that of another node may have ended since, without anybody reading the session here.
 */
const PROCESSING_MS = 60_000;
/** How long a session that was only read, never written, stays in the cache. */
const UNSTORED_MS = 3_600_000;

/** The cached sessions by id, of bounded number and size. Evicts the least recently used ones. */
export class ActiveSessions {
  readonly #sessions = new Map<string, CachedSession>();
  #weight = 0;
  #nextEviction = 0;
  /** False when the last eviction could not bring the cache within its limits. */
  #mayEvict = true;

  constructor(private readonly clock: Clock) {}

  get(id: string): CachedSession | undefined {
    return this.#sessions.get(id);
  }

  /** Adds a session as the most recently used one, and evicts others if needed. */
  keep(thread: CachedSession): CachedSession {
    this.#sessions.delete(thread.id);
    this.#sessions.set(thread.id, thread);
    this.#weight += thread.weight - thread.countedWeight;
    thread.countedWeight = thread.weight;
    this.#evict();
    return thread;
  }

  drop(thread: CachedSession): void {
    if (this.#sessions.get(thread.id) !== thread) return;
    this.#sessions.delete(thread.id);
    this.#weight -= thread.countedWeight;
    thread.countedWeight = 0;
  }

  /** Evicts in batches: reaching the oldest entry of the map is slow after many entries were moved or deleted. */
  #evict(): void {
    const now = this.clock.monotonic();
    const isFull = this.#sessions.size > MAX_ACTIVE || this.#weight > MAX_WEIGHT;
    if (now < this.#nextEviction && !(isFull && this.#mayEvict)) return;
    this.#nextEviction = now + EVICTION_MS;
    const share = isFull ? KEPT_SHARE : 1;
    const fits = () => this.#sessions.size <= MAX_ACTIVE * share && this.#weight <= MAX_WEIGHT * share;
    for (const thread of this.#sessions.values()) {
      const isOld = !thread.stored && now - thread.usedAt > UNSTORED_MS;
      if (!isOld && fits()) break;
      const usedAt = Math.max(thread.usedAt, thread.checkedAt);
      const isBusy = thread.pins > 0 || (thread.processing && now - usedAt < PROCESSING_MS);
      if (!isBusy && this.#sessions.size > 1) this.drop(thread);
    }
    this.#mayEvict = fits();
  }
}
