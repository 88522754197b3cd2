import { ActiveSessions } from './active-sessions.js';
import { newSession, type SessionRef, type Session } from '../model/session.js';
import type { Clock } from '../ports/clock.js';
import { RefusedError } from '../model/refusal.js';
import type { Store } from '../ports/store.js';
import type { ThreadPart } from '../ports/stored-thread.js';
import { endOf } from './session-tail.js';
import { CachedSession } from './cached-session.js';

/** How many of the newest records are read of a thread that is not cached. */
const NEWEST = 200;
/** How many earlier records are read at a time. */
const EARLIER = 500;
/** How long the text in flight of another node's turn is served before it is read again. */
const FLIGHT_MS = 250;

/** A load of a whole session that is in progress. */
interface Loading {
  readonly begun: number;
  readonly thread: Promise<CachedSession | 'deleted' | 'unknown'>;
}

/**
 * Caches active sessions. A lookup tries memory, then the store, then creates a session that exists in memory only
 * until something is written to it, so that a scanner of random ids cannot fill the disk.
 */
export class SessionCache {
  readonly #active: ActiveSessions;
  /** Ids of sessions that are being loaded with their whole thread. */
  readonly #wholes = new Set<string>();
  readonly #loading = new Map<string, Loading>();
  /** Numbers reads and loads in the order in which they began. */
  #reads = 0;

  /**
   * @param mirrorMs how long a cached session may be served without checking its revision, in milliseconds; 0: always
   * check
   */
  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
    private readonly mirrorMs: number,
  ) {
    this.#active = new ActiveSessions(clock);
  }

  /**
   * Returns the session for a read.
   * @throws RefusedError `not_found` when it was deleted, or is unknown and must not be created
   */
  open(ref: SessionRef): Promise<CachedSession> {
    const fresh = this.fresh(ref.id);
    return fresh === undefined ? this.openChecked(ref) : Promise.resolve(fresh);
  }

  /** Returns the cached session if it may be served without checking its revision. */
  fresh(id: string): CachedSession | undefined {
    return this.#fresh(id, this.mirrorMs);
  }

  /**
   * Returns the session with its whole thread for a read.
   * @throws RefusedError as `open`
   */
  async openWhole(ref: SessionRef): Promise<CachedSession> {
    for (;;) {
      if (this.#active.get(ref.id) === undefined) this.#wholes.add(ref.id);
      const thread = await this.open(ref).finally(() => this.#wholes.delete(ref.id));
      if (thread.skipped === 0) return thread;
      thread.needsWhole = true;
      thread.stale = true;
    }
  }

  /** Reads records before the earliest one of a session that is not whole. False: there is nothing more to read. */
  async addEarlier(thread: CachedSession): Promise<boolean> {
    const first = thread.firstId;
    if (thread.skipped === 0 || first === undefined) return false;
    const page = await this.store.readMessages(thread.id, { limit: EARLIER, before: first });
    // Deleted, or extended by another caller.
    if (page === 'unknown_message' || thread.firstId !== first) return page !== 'unknown_message';
    thread.addEarlier(page.messages, !page.hasMore);
    return true;
  }

  /** Like `open`, but always checks the revision in the store. */
  async openChecked(ref: SessionRef): Promise<CachedSession> {
    const found = await this.#find(ref.id);
    if (found instanceof CachedSession) return found;
    if (found === 'deleted' || ref.ifUnknown === 'refuse') throw sessionNotFound();
    const present = this.#active.get(ref.id);
    if (present !== undefined) return present;
    const thread = this.assumeNew(ref.id);
    this.#active.keep(thread);
    return thread;
  }

  /**
   * Returns the session without its messages.
   * @throws RefusedError as `open`
   */
  async session(ref: SessionRef): Promise<Session> {
    return (await this.findSession(ref.id)) ?? (await this.open(ref)).session;
  }

  /** Like `session`; undefined: the store has no such session. */
  async findSession(id: string): Promise<Session | undefined> {
    const found = (await this.#current(id)) ?? (await this.store.loadTail(id, 0));
    return typeof found === 'string' ? undefined : found.session;
  }

  /**
   * Reads only the last `count` messages of a thread that is not cached, or of which less is cached. The result is not
   * cached. Undefined: enough of the thread is cached, the store does not have it, or a turn of the cached session is
   * open: if it runs here, the runner may finish a step during the read, which would then lack the text of that step.
   */
  async openTail(ref: SessionRef, count: number): Promise<CachedSession | undefined> {
    const isProcessing = () => this.#active.get(ref.id)?.processing === true;
    if ((await this.#current(ref.id))?.shows(count) === true || isProcessing()) return undefined;
    const tail = await this.store.loadTail(ref.id, count);
    return typeof tail === 'string' || isProcessing() ? undefined : endOf(tail, this.clock.now());
  }

  /**
   * Returns the session for a write, which may recreate a deleted one. A new session is cached only once it is stored.
   * @param maxAgeMs how long ago it may have been checked, in milliseconds; 0: checks it now
   */
  async openForWrite(ref: SessionRef, maxAgeMs = this.mirrorMs): Promise<CachedSession> {
    const found = this.#fresh(ref.id, maxAgeMs) ?? (await this.#find(ref.id));
    if (found instanceof CachedSession) return found;
    if (ref.ifUnknown === 'refuse') throw sessionNotFound();
    return this.assumeNew(ref.id);
  }

  /** Like `openForWrite`, without checking the revision: the store must reject the write if the session changed. */
  async openUnchecked(ref: SessionRef): Promise<CachedSession> {
    return this.openForWrite(ref, Infinity);
  }

  /** Returns a new session without checking the store: for a write that the store rejects if the session exists. */
  assumeNew(id: string): CachedSession {
    return new CachedSession(newSession(id, this.clock.now()), this.clock.monotonic());
  }

  /**
   * Runs a write while the session is protected from eviction, so that the commit is applied to the object that readers
   * see.
   */
  async hold<T>(thread: CachedSession, write: () => Promise<T>): Promise<T> {
    thread.pins++;
    try {
      return await write();
    } finally {
      thread.pins--;
    }
  }

  /** Adds a session to the cache after its first write. */
  adopt(thread: CachedSession): void {
    const present = this.#active.get(thread.id);
    if (present === undefined) this.#active.keep(thread);
    else if (present !== thread) present.noteRevision(thread.newestRevision);
  }

  /** Records that a session has reached a revision, here or on another node. */
  noteRevision(id: string, revision: number): void {
    this.#active.get(id)?.noteRevision(revision);
  }

  /** Refreshes the text in flight of a turn that runs on another node, at most every 250 ms. */
  async refreshFlight(thread: CachedSession): Promise<void> {
    const now = this.clock.monotonic();
    if (now - thread.flightAt < FLIGHT_MS) return;
    thread.flightAt = now;
    const flight = await this.store.readFlight(thread.id);
    const open = flight === undefined ? undefined : thread.findOpen(flight.turnId);
    if (flight === undefined || open === undefined) return;
    // A claim from the queue makes no new revision of the session.
    if (open.turn.status === 'queued') open.turn = { ...open.turn, status: 'running' };
    const next = (open.messages.at(-1)?.position ?? -1) + 1;
    if (flight.position === next) {
      open.partialText = flight.text || flight.leftover;
      open.partialSince = flight.since;
    }
    // The cached session lacks a step that has ended.
    else if (flight.position > next) thread.stale = true;
  }

  /** Drops a deleted session from the cache. What a turn or a write uses stays: it may have been created again. */
  forget(id: string): void {
    const thread = this.#active.get(id);
    if (thread?.pins === 0) this.#active.drop(thread);
    else if (thread !== undefined) thread.stale = true;
  }

  /** Returns the cached session, however old. */
  peek(id: string): CachedSession | undefined {
    return this.#active.get(id);
  }

  /** Returns the cached session if it equals the store. Reads no messages. */
  async #current(id: string): Promise<CachedSession | undefined> {
    const fresh = this.fresh(id);
    const present = this.#active.get(id);
    if (fresh !== undefined || present === undefined || present.stale) return fresh;
    const revision = await this.store.revisionOf(id);
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
    // Reads again if a revision was announced after the first read began, maybe for an earlier caller.
    const found = await this.#read(id);
    return found instanceof CachedSession && found.stale ? this.#read(id) : found;
  }

  /** @param asked the number of this read: the result must not be older than it */
  async #read(id: string, asked = ++this.#reads): Promise<CachedSession | 'deleted' | 'unknown'> {
    const present = this.#active.get(id);
    if (present !== undefined && !present.stale) {
      const before = present.session.revision;
      const revision = await this.store.revisionOf(id);
      // Dropped or replaced during the query: its result may be outdated.
      if (this.#active.get(id) !== present) return this.#read(id, asked);
      // A read sees every earlier commit, unless the store has lost some. Leaves the session stale.
      if (typeof revision === 'number' && revision < before) present.rewind(revision);
      const { revision: now } = present.session;
      // This process wrote to it during the query, possibly before another node's write that the query has seen.
      if (now !== before && (typeof revision !== 'number' || revision <= now))
        return this.#active.keep(present);
      present.usedAt = this.clock.monotonic();
      const isOurs = revision === now || (revision === 'unknown' && !present.stored);
      if (isOurs) {
        present.checkedAt = present.usedAt;
        return this.#active.keep(present);
      }
      if (revision === 'deleted' || revision === 'unknown') {
        if (present.pins === 0) this.#active.drop(present);
        return revision;
      }
    }
    const loading = this.#loading.get(id);
    if (loading === undefined) return this.#beginLoading(id);
    if (loading.begun > asked) return loading.thread;
    // The load in progress began before this read, so it may lack writes that were acknowledged in between.
    await loading.thread;
    return this.#read(id, asked);
  }

  #beginLoading(id: string): Promise<CachedSession | 'deleted' | 'unknown'> {
    const thread = this.#load(id).finally(() => this.#loading.delete(id));
    this.#loading.set(id, { begun: ++this.#reads, thread });
    return thread;
  }

  /** Of a cached session only newer turns are missing. Of another one the newest records suffice for most purposes. */
  #partOf(id: string, cached: CachedSession | undefined): ThreadPart | undefined {
    if (cached?.needsWhole === true || this.#wholes.has(id)) return undefined;
    const last = cached?.settled.at(-1);
    return last === undefined ? { newest: NEWEST } : { after: last };
  }

  async #load(id: string): Promise<CachedSession | 'deleted' | 'unknown'> {
    const before = this.#active.get(id);
    const known = before?.newestRevision ?? 0;
    const stored = await this.store.loadThread(id, this.#partOf(id, before));
    const present = this.#active.get(id);
    // The records before the part were in an object that is gone.
    if (typeof stored !== 'string' && stored.continues && present !== before) return this.#load(id);
    if (stored === 'deleted' || stored === 'unknown') {
      // This process wrote to it during the load.
      const isOurs = present !== before || (stored === 'unknown' && known === 0);
      if (present !== undefined && isOurs) return present;
      if (present?.pins === 0) this.#active.drop(present);
      return stored;
    }
    if (before !== undefined && stored.session.revision < known) {
      before.rewind(stored.session.revision);
      return this.#load(id);
    }
    const thread = present ?? new CachedSession(stored.session, this.clock.monotonic());
    if (present === undefined) thread.session = { ...stored.session, revision: 0 };
    thread.reset(stored, this.clock.monotonic());
    return this.#active.keep(thread);
  }
}

export function sessionNotFound(): RefusedError {
  return new RefusedError('not_found', 'There is no session with this id');
}
