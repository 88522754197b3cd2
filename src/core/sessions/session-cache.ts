import { newSession, type SessionRef, type Session } from '../model/session.js';
import type { Clock } from '../ports/clock.js';
import { RefusedError } from '../model/refusal.js';
import { Revisions } from './revision-checks.js';
import type { Store } from '../ports/store.js';
import { endOf, type ThreadEnd } from './session-tail.js';
import { CachedSession } from './cached-session.js';

/** How many sessions memory holds, and how many characters of their messages. */
const MAX_ACTIVE = 10_000;
const MAX_WEIGHT = 64 * 1_048_576;
/** Down to which share of that it lets go when it holds too much. */
const KEPT_SHARE = 0.95;
/** How often it looks for sessions that may go, when it does not hold too much or none may go. */
const EVICTION_MS = 1_000;
/** How long a session that only reads have touched lives. */
const UNSTORED_MS = 3_600_000;
/** How old the knowledge may be that memory equals the store where whoever uses it is told when it does not. */
const LATELY_MS = 1_000;
/** How old the text in flight of a turn that runs elsewhere may be, beside its owner's own pace of checkpoints. */
const FLIGHT_MS = 250;

/** A read of a whole session that is under way. */
interface Loading {
  readonly begun: number;
  readonly thread: Promise<CachedSession | 'deleted' | 'unknown'>;
}

/**
 * The active sessions, in three tiers. First memory, then the store, then a new one, which lives in memory alone
 * until something is written, so that a scanner of random ids cannot fill the disk.
 */
export class SessionCache {
  readonly #active = new Map<string, CachedSession>();
  readonly #loading = new Map<string, Loading>();
  /** Numbers reads and loads in the order of their beginnings. */
  #reads = 0;
  readonly #revisions: Revisions;
  #weight = 0;
  #nextEviction = 0;
  /** False when what may go was not enough. */
  #mayEvict = true;

  /** @param mirrorMs as in the settings */
  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
    private readonly mirrorMs: number,
  ) {
    this.#revisions = new Revisions(store);
  }

  /** The session, for a read. @throws RefusedError `not_found` when deleted, or unknown and not to be created */
  open(ref: SessionRef): Promise<CachedSession> {
    const fresh = this.fresh(ref.id);
    return fresh === undefined ? this.openChecked(ref) : Promise.resolve(fresh);
  }

  /** The session if memory has it, fresh enough for a read: without asking the store. */
  fresh(id: string): CachedSession | undefined {
    return this.#fresh(id, this.mirrorMs);
  }

  /** The same, surely as the store has it now, whoever wrote last. */
  async openChecked(ref: SessionRef): Promise<CachedSession> {
    const found = await this.#find(ref.id);
    if (found instanceof CachedSession) return found;
    if (found === 'deleted' || ref.ifUnknown === 'refuse') throw sessionNotFound();
    const present = this.#active.get(ref.id);
    if (present !== undefined) return present;
    const thread = this.assumeNew(ref.id);
    this.#keep(thread);
    return thread;
  }

  /** The session without its thread. @throws RefusedError as `open` */
  async session(ref: SessionRef): Promise<Session> {
    return (await this.findSession(ref.id)) ?? (await this.open(ref)).session;
  }

  /** The same; undefined: the store has no such session. */
  async findSession(id: string): Promise<Session | undefined> {
    const found = (await this.#current(id)) ?? (await this.store.loadTail(id, 0));
    return typeof found === 'string' ? undefined : found.session;
  }

  /**
   * The end of a thread that memory does not have, read by itself. It is not kept: memory has whole threads only.
   * Undefined: memory has the thread, or the store does not.
   */
  async openTail(ref: SessionRef, count: number): Promise<ThreadEnd | undefined> {
    if ((await this.#current(ref.id)) !== undefined) return undefined;
    const tail = await this.store.loadTail(ref.id, count);
    return typeof tail === 'string' ? undefined : endOf(tail, this.clock.now());
  }

  /** The session, for a write: one that was deleted may come back by it. It is kept only once it is stored. */
  async openForWrite(ref: SessionRef): Promise<CachedSession> {
    return this.#openForWrite(ref, this.mirrorMs);
  }

  /** The same, as it was a moment ago: for a write that the store refuses when the session has changed. */
  async openLately(ref: SessionRef): Promise<CachedSession> {
    return this.#openForWrite(ref, LATELY_MS);
  }

  /** A session as if it were stored nowhere: for a write that the store refuses when it is. */
  assumeNew(id: string): CachedSession {
    return new CachedSession(newSession(id, this.clock.now()), this.clock.monotonic());
  }

  async #openForWrite(ref: SessionRef, maxAgeMs: number): Promise<CachedSession> {
    const found = this.#fresh(ref.id, maxAgeMs) ?? (await this.#find(ref.id));
    if (found instanceof CachedSession) return found;
    if (ref.ifUnknown === 'refuse') throw sessionNotFound();
    return this.assumeNew(ref.id);
  }

  /** Runs a write with the session held in memory, so that its commit meets the very mirror that others read. */
  async hold<T>(thread: CachedSession, write: () => Promise<T>): Promise<T> {
    thread.pins++;
    try {
      return await write();
    } finally {
      thread.pins--;
    }
  }

  /** After a write to a session that was not stored: from now on it is active like any other. */
  adopt(thread: CachedSession): void {
    const present = this.#active.get(thread.id);
    if (present === undefined) this.#keep(thread);
    else if (present !== thread) present.heard(thread.newestRevision);
  }

  /** A session has come to this revision, here or elsewhere. */
  heard(id: string, revision: number): void {
    this.#active.get(id)?.heard(revision);
  }

  /** Refreshes the text in flight of a turn that runs elsewhere, at most every quarter of a second. */
  async refreshFlight(thread: CachedSession): Promise<void> {
    const now = this.clock.monotonic();
    if (now - thread.flightAt < FLIGHT_MS) return;
    thread.flightAt = now;
    const flight = await this.store.readFlight(thread.id);
    const open = flight === undefined ? undefined : thread.findOpen(flight.turnId);
    if (flight === undefined || open === undefined) return;
    const next = (open.messages.at(-1)?.position ?? -1) + 1;
    if (flight.position === next) {
      open.partialText = flight.text || flight.leftover;
      open.partialSince = flight.since;
    }
    // A step has ended that memory does not know of.
    else if (flight.position > next) thread.stale = true;
  }

  /** Lets go of a session that was deleted. */
  forget(id: string): void {
    const thread = this.#active.get(id);
    if (thread !== undefined) this.#drop(thread);
  }

  /** The mirror of a session if memory has one, however old. */
  peek(id: string): CachedSession | undefined {
    return this.#active.get(id);
  }

  /** The mirror of a session if it is as the store has it now. Reads no message. */
  async #current(id: string): Promise<CachedSession | undefined> {
    const fresh = this.fresh(id);
    const present = this.#active.get(id);
    if (fresh !== undefined || present === undefined || present.stale) return fresh;
    const revision = await this.#revisions.of(id);
    const isSame = this.#active.get(id) === present && !present.stale;
    return isSame && revision === present.session.revision ? present : undefined;
  }

  #fresh(id: string, maxAgeMs: number): CachedSession | undefined {
    const thread = this.#active.get(id);
    if (thread === undefined || thread.stale) return undefined;
    const now = this.clock.monotonic();
    if (now - thread.checkedAt >= maxAgeMs) return undefined;
    thread.usedAt = now;
    return thread;
  }

  async #find(id: string): Promise<CachedSession | 'deleted' | 'unknown'> {
    // A second read is made when the first one, which others may have begun, was older than what memory knows by then.
    const found = await this.#read(id);
    return found instanceof CachedSession && found.stale ? this.#read(id) : found;
  }

  /** @param asked the number of the read: what it finds is not older than it */
  async #read(id: string, asked = ++this.#reads): Promise<CachedSession | 'deleted' | 'unknown'> {
    const present = this.#active.get(id);
    if (present !== undefined && !present.stale) {
      const before = present.session.revision;
      const revision = await this.#revisions.of(id);
      // Forgotten meanwhile: the answer is of the past.
      if (this.#active.get(id) !== present) return this.#read(id, asked);
      const { revision: now } = present.session;
      // Written to meanwhile, by this process: that may have been stored before what another had written by then.
      if (now !== before && (typeof revision !== 'number' || revision <= now)) return this.#keep(present);
      present.usedAt = this.clock.monotonic();
      const isOurs = revision === now || (revision === 'unknown' && !present.stored);
      if (isOurs) {
        present.checkedAt = present.usedAt;
        return this.#keep(present);
      }
      if (revision === 'deleted' || revision === 'unknown') {
        if (present.pins === 0) this.#drop(present);
        return revision;
      }
    }
    const loading = this.#loading.get(id);
    if (loading === undefined) return this.#beginLoading(id);
    if (loading.begun > asked) return loading.thread;
    // Begun before this read was asked for: it may not have what was acknowledged between.
    await loading.thread;
    return this.#read(id, asked);
  }

  #beginLoading(id: string): Promise<CachedSession | 'deleted' | 'unknown'> {
    const thread = this.#load(id).finally(() => this.#loading.delete(id));
    this.#loading.set(id, { begun: ++this.#reads, thread });
    return thread;
  }

  async #load(id: string): Promise<CachedSession | 'deleted' | 'unknown'> {
    const before = this.#active.get(id);
    const stored = await this.store.loadThread(id);
    const present = this.#active.get(id);
    if (stored === 'deleted' || stored === 'unknown') {
      // It was written to while nothing of it was found.
      if (present !== undefined && (present !== before || stored === 'unknown')) return present;
      return stored;
    }
    const thread = present ?? new CachedSession(stored.session, this.clock.monotonic());
    if (present === undefined) thread.session = { ...stored.session, revision: 0 };
    thread.reset(stored, this.clock.monotonic());
    return this.#keep(thread);
  }

  /** Puts a session at the young end of the order of eviction. */
  #keep(thread: CachedSession): CachedSession {
    this.#active.delete(thread.id);
    this.#active.set(thread.id, thread);
    this.#weight += thread.weight - thread.countedWeight;
    thread.countedWeight = thread.weight;
    this.#evict();
    return thread;
  }

  #drop(thread: CachedSession): void {
    if (this.#active.get(thread.id) !== thread) return;
    this.#active.delete(thread.id);
    this.#weight -= thread.countedWeight;
    thread.countedWeight = 0;
  }

  /**
   * Seldom, and then some at once: the way to the oldest leads past the places of all that were moved or dropped since
   * the map was last put in order. One at a time it took 10 µs, a tenth of what a new session costs.
   */
  #evict(): void {
    const now = this.clock.monotonic();
    const isFull = this.#active.size > MAX_ACTIVE || this.#weight > MAX_WEIGHT;
    if (now < this.#nextEviction && !(isFull && this.#mayEvict)) return;
    this.#nextEviction = now + EVICTION_MS;
    const share = isFull ? KEPT_SHARE : 1;
    const fits = () => this.#active.size <= MAX_ACTIVE * share && this.#weight <= MAX_WEIGHT * share;
    for (const thread of this.#active.values()) {
      const isOld = !thread.stored && now - thread.usedAt > UNSTORED_MS;
      if (!isOld && fits()) break;
      if (thread.pins === 0 && !thread.processing && this.#active.size > 1) this.#drop(thread);
    }
    this.#mayEvict = fits();
  }
}

/** The refusal for a session that does not exist. */
export function sessionNotFound(): RefusedError {
  return new RefusedError('not_found', 'There is no session with this id');
}
