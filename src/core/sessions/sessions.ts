import type { Clock } from '../ports/clock.js';
import type { WalletOwners } from '../access/wallet-owners.js';
import {
  personTitle,
  walletAddress,
  type SessionRef,
  type Session,
  type SessionFields,
  type ThreadSummary,
} from '../model/session.js';
import type { EventBody } from '../model/event.js';
import type { JsonObject } from '../model/json.js';
import type { Message } from '../model/message.js';
import type { TurnSummary } from '../model/turn.js';
import { announce, type Bus } from '../ports/bus.js';
import { RefusedError } from '../model/refusal.js';
import type { ThreadCursor, Store } from '../ports/store.js';
import type { CachedSession } from './cached-session.js';
import { sessionNotFound, type SessionCache } from './session-cache.js';
import { patchedUserState } from '../model/user-state.js';

/** The changes that a write makes, derived from the current session. */
interface Change {
  readonly set: SessionFields;
  readonly events?: readonly EventBody[];
  readonly isActivity: boolean;
}

/** The limit of an unpaged thread list, and how many threads are read before yielding to the event loop. */
const MAX_THREADS = 10_000;
const THREADS_A_PAGE = 1_000;

/** The dependencies of `Sessions`. */
export interface SessionsParts {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly walletOwners: WalletOwners;
  readonly threads: SessionCache;
}

/** Creates, lists, renames and deletes sessions. */
export class Sessions {
  constructor(
    private readonly parts: SessionsParts,
    /** Returns the turn of a session that is running in this process. */
    private readonly turnIn: (sessionId: string) => { stop(reason: 'deleted'): void } | undefined,
  ) {}

  async create(request: {
    sessionId: string;
    wallet?: string | undefined;
    walletProof?: string | undefined;
  }): Promise<{ session: ThreadSummary; created: boolean }> {
    const asked = request.wallet === undefined ? undefined : walletAddress(request.wallet);
    const ref: SessionRef = { id: request.sessionId, ifUnknown: 'create' };
    const made = asked === undefined ? await this.#createUnread(ref) : undefined;
    if (made !== undefined) return made;
    const thread = await this.parts.threads.openForWrite(ref);
    const bound = thread.session.wallet;
    const wallet =
      asked === undefined ? undefined : this.parts.walletOwners.ownerOf(asked, request.walletProof, bound);
    if (thread.stored && (wallet === undefined || wallet === bound)) {
      return { session: thread.session, created: false };
    }
    return this.#write(ref, thread, () => ({
      set: wallet === undefined ? {} : { wallet },
      isActivity: true,
    }));
  }

  /**
   * Creates a session without reading it first, since most ids that are not cached are new. Undefined: the session
   * exists, and nothing was written.
   */
  async #createUnread(ref: SessionRef): Promise<{ session: Session; created: boolean } | undefined> {
    const { threads } = this.parts;
    if (threads.peek(ref.id) !== undefined) return undefined;
    const thread = threads.assumeNew(ref.id);
    return threads.hold(thread, () => this.#save(thread, ref, { set: {}, isActivity: true }));
  }

  async get(id: string): Promise<Session> {
    return this.parts.threads.session({ id, ifUnknown: 'refuse' });
  }

  async threadsOf(id: string, walletProof?: string): Promise<readonly ThreadSummary[]> {
    const own = await this.get(id);
    if (own.wallet === null || !this.parts.walletOwners.covers(own.wallet, walletProof)) return [own];
    const others = await this.#allOf(own.wallet, id);
    return [own, ...others].slice(0, MAX_THREADS);
  }

  /** Lists the threads of a wallet except one, newest first, up to the limit of an unpaged list. */
  async #allOf(wallet: string, but: string): Promise<readonly ThreadSummary[]> {
    const { store } = this.parts;
    const found = new Map<string, ThreadSummary>();
    for (let after: ThreadCursor | null = null; ;) {
      const page: ThreadSummary[] = await store.listThreads(wallet, { limit: THREADS_A_PAGE, after });
      for (const thread of page) if (thread.id !== but) found.set(thread.id, thread);
      if (page.length < THREADS_A_PAGE || found.size >= MAX_THREADS) {
        if (after === null) return [...found.values()];
        break;
      }
      after = page.at(-1) ?? null;
      await macrotask();
    }
    // Threads that were used while the pages were read have moved to the first page.
    const newest = await store.listThreads(wallet, { limit: THREADS_A_PAGE, after: null });
    const moved = newest.filter(({ id }) => id !== but && !found.has(id));
    return [...moved, ...found.values()];
  }

  async list(request: {
    session: SessionRef | undefined;
    wallet: string;
    walletProof?: string | undefined;
    limit: number;
    after: ThreadCursor | null;
  }): Promise<{ threads: readonly ThreadSummary[]; next: ThreadCursor | null }> {
    const asked = walletAddress(request.wallet);
    const wallet = this.parts.walletOwners.ownerOf(asked, request.walletProof, null);
    if (request.session !== undefined) await this.touch(request.session);
    // The extra row shows whether there is another page.
    const page = { limit: request.limit + 1, after: request.after };
    const found = await this.parts.store.listThreads(wallet, page);
    const threads = found.slice(0, request.limit);
    const last = threads.at(-1);
    const next =
      found.length > request.limit && last !== undefined ? { activeAt: last.activeAt, id: last.id } : null;
    return { threads, next };
  }

  async rename(id: string, given: string): Promise<ThreadSummary> {
    const title = personTitle(given);
    // Checks that the session exists, in the store or in the cache only: the write below creates the latter in the
    // store.
    await this.parts.threads.open({ id, ifUnknown: 'refuse' });
    const { session } = await this.write({ id, ifUnknown: 'refuse' }, (present) => ({
      set: { title, titleSource: 'person' },
      events: present.title === title ? [] : [{ type: 'title_changed', title }],
      isActivity: true,
    }));
    return session;
  }

  async archive(id: string, archived: boolean): Promise<ThreadSummary> {
    const present = await this.get(id);
    if (present.archived === archived) return present;
    const { session } = await this.write({ id, ifUnknown: 'refuse' }, () => ({
      set: { archived },
      isActivity: false,
    }));
    return session;
  }

  async delete(id: string): Promise<void> {
    const { threads, store, bus, clock } = this.parts;
    const thread = await threads.open({ id, ifUnknown: 'refuse' });
    // A turn that starts later may belong to a session that was created again.
    const running = this.turnIn(id);
    // A session that was never written must be stored first, so that every node knows it as deleted, also after a
    // restart.
    if (!thread.stored) await this.write({ id, ifUnknown: 'create' }, () => ({ set: {}, isActivity: false }));
    const wasThere = await store.deleteSession(id, clock.now());
    running?.stop('deleted');
    threads.forget(id);
    bus.publish(id, { type: 'session_deleted' });
    if (!wasThere) throw sessionNotFound();
  }

  async readMessages(
    id: string,
    page: { limit: number; before: string | null },
  ): Promise<Exclude<Awaited<ReturnType<Store['readMessages']>>, string>> {
    await this.parts.threads.session({ id, ifUnknown: 'refuse' });
    const found = await this.parts.store.readMessages(id, page);
    if (found !== 'unknown_message') return found;
    const message = 'before must be the id of a message of this session';
    throw new RefusedError('invalid', message, [{ path: 'before', message }]);
  }

  /** Reads how the turns of these records went, which are in order. */
  async readTurns(id: string, messages: readonly Message[]): Promise<readonly TurnSummary[]> {
    const [first] = messages;
    const last = messages.at(-1);
    if (first === undefined || last === undefined) return [];
    return this.parts.store.readTurns(id, { from: first.turnNo, to: last.turnNo });
  }

  /** Merges a patch into the session's user state. Writes only if that changes something. */
  async mergeState(ref: SessionRef, patch: JsonObject): Promise<void> {
    const userState = (await this.parts.threads.findSession(ref.id))?.userState ?? null;
    if (patchedUserState(userState, patch) === userState) return;
    await this.write(ref, (present) => ({
      set: { userState: patchedUserState(present.userState, patch) },
      isActivity: false,
    }));
  }

  /** Binds a session to the client whose secrets its tools use. */
  async bindClient(ref: SessionRef, client: string): Promise<void> {
    if ((await this.parts.threads.findSession(ref.id))?.client === client) return;
    await this.write(ref, () => ({ set: { client }, isActivity: false }));
  }

  /**
   * Creates the session in the cache if it does not exist. A deleted session stays deleted, without an error unless
   * `ref` refuses unknown sessions.
   */
  async touch(ref: SessionRef): Promise<void> {
    if (ref.ifUnknown === 'refuse') await this.parts.threads.open(ref);
    else {
      await this.parts.threads.open(ref).catch((error: unknown) => {
        if (!(error instanceof RefusedError)) throw error;
      });
    }
  }

  /**
   * Writes the changes that `decide` derives from the current session. Retries until no concurrent write intervenes.
   */
  async write(
    ref: SessionRef,
    decide: (present: Session) => Change,
  ): Promise<{ session: Session; created: boolean }> {
    return this.#write(ref, await this.parts.threads.openForWrite(ref), decide);
  }

  /** Like `write`, with a session that was just opened for it. */
  async #write(
    ref: SessionRef,
    opened: CachedSession,
    decide: (present: Session) => Change,
  ): Promise<{ session: Session; created: boolean }> {
    for (let thread = opened; ; thread = await this.parts.threads.openForWrite(ref)) {
      const written = await this.parts.threads.hold(thread, () =>
        this.#save(thread, ref, decide(thread.session)),
      );
      if (written !== undefined) return written;
      thread.stale = true;
    }
  }

  async #save(
    thread: CachedSession,
    ref: SessionRef,
    change: Change,
  ): Promise<{ session: Session; created: boolean } | undefined> {
    const { store, clock, threads, bus } = this.parts;
    const { version } = thread.session;
    const saved = await store.saveSession({
      id: thread.id,
      ifMissing: thread.stored && ref.ifUnknown === 'refuse' ? 'refuse' : 'create',
      ifVersion: version,
      set: change.set,
      events: change.events ?? [],
      isActivity: change.isActivity,
      at: clock.now(),
    });
    if (saved.kind === 'stale') return undefined;
    if (saved.kind === 'missing') throw sessionNotFound();
    // At most a timestamp was written, so the returned revision may be that of another process's write, which is not
    // cached.
    const isIdle = saved.session.version === version && saved.commit.events.length === 0;
    if (isIdle) thread.noteRevision(saved.commit.revision);
    else thread.apply(saved.commit, () => (thread.session = saved.session));
    threads.adopt(thread);
    announce(bus, thread.id, saved.commit);
    return { session: saved.session, created: saved.created };
  }
}

/** Yields to the event loop. */
function macrotask(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
