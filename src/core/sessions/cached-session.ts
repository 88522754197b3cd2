import type { SystemFault, Commit } from '../model/event.js';
import { byOrder, failuresIn, shownCount, shownIn, type Message } from '../model/message.js';
import type { Session } from '../model/session.js';
import type { Snapshot } from '../model/snapshot.js';
import type { StoredThread } from '../ports/stored-thread.js';
import { isOpen, type Turn } from '../model/turn.js';

/** A turn that is not settled yet: it is queued, running, or has ended behind one that is still running. */
export interface OpenTurn {
  turn: Turn;
  messages: Message[];
  /** The last checkpoint of the step in flight, as last read by this process. */
  partialText: string;
  /** When the first character of that text was published, in milliseconds since the epoch; 0: unknown. */
  partialSince: number;
}

/** Shared by all sessions that never had a system error. */
const NONE: ReadonlySet<number> = new Set();

/**
 * A cached copy of an active session, never ahead of the store. Each commit carries the revision that it created: the
 * next revision is applied in place. Any other one makes the copy stale, so that it must be reloaded: a gap means that
 * another process wrote, and the store assigns a known revision again after it has lost commits.
 */
export class CachedSession {
  /** Replaced by a new object on every change of the thread. */
  session: Session;
  /** The newest records. Append-only: another array replaces it when the session is reloaded or gets earlier records. */
  settled: Message[] = [];
  /** How many messages a snapshot shows before those of `settled` and `open`. 0: the thread is whole. */
  skipped = 0;
  /** How many records before those of `settled` and `open` state why their turn failed. */
  skippedFailures = 0;
  /** True if the next load must read the whole thread. */
  needsWhole = false;
  open: OpenTurn[] = [];
  faults: SystemFault[] = [];
  /**
   * The numbers of system errors that were delivered, so that a read that began before the store recorded that does not
   * bring them back.
   */
  delivered: ReadonlySet<number> = NONE;
  /** Another node's claim on the system errors, and when it was first seen, by the monotonic clock. */
  faultsHeld: { readonly claim: string; readonly since: number } | undefined = undefined;
  stale = false;
  /** Number of operations in progress that use this object: it must not be evicted while there are any. */
  pins = 0;
  /** When it was last known to equal the store, by the monotonic clock. */
  checkedAt: number;
  /** When it was last used, by the monotonic clock. */
  usedAt: number;
  /** When the text in flight of a turn on another node was last read, by the monotonic clock. */
  flightAt = -Infinity;
  /** Approximate number of characters held, for the size limit of the cache. */
  weight = 0;
  /** The part of `weight` that the cache has already counted. */
  countedWeight = 0;
  /** The newest revision announced for the session, even if it was not loaded yet. */
  #newestKnown = 0;
  /** The last snapshot taken while no turn was open. */
  quiet: Snapshot | undefined = undefined;

  /** @param readAt when the session was read from the store, by the monotonic clock, in milliseconds */
  constructor(session: Session, readAt: number) {
    this.session = session;
    this.checkedAt = readAt;
    this.usedAt = readAt;
  }

  get id(): string {
    return this.session.id;
  }

  /** False for a session that was only read, never written. */
  get stored(): boolean {
    return this.session.revision > 0;
  }

  /** The newest known revision, loaded or only announced. */
  get newestRevision(): number {
    return Math.max(this.session.revision, this.#newestKnown);
  }

  get processing(): boolean {
    return this.open.some(({ turn }) => isOpen(turn.status));
  }

  /**
   * Records that the session has reached a revision, here or on another node. The copy becomes stale if it is older.
   */
  noteRevision(revision: number): void {
    this.#newestKnown = Math.max(this.#newestKnown, revision);
    if (this.session.revision < revision) this.stale = true;
  }

  /**
   * Compares with a read of the store, which may have begun before the newest write: a lower revision only makes the
   * copy stale.
   */
  compare(revision: number): void {
    if (revision < this.session.revision) this.stale = true;
    else this.noteRevision(revision);
  }

  /** Records that the store has lost the commits after a revision. The next load must read the whole thread. */
  rewind(revision: number): void {
    this.#newestKnown = revision;
    this.session = { ...this.session, revision };
    this.stale = true;
    this.needsWhole = true;
    // The store gives the numbers of lost system errors to new ones.
    this.delivered = NONE;
  }

  /**
   * Replaces the contents with what was read from the store, or adds the records of newer turns if these were read,
   * unless the cached copy is valid and newer. Stays stale when the read is older than the newest announced revision.
   * @param readAt when it was read, by the monotonic clock, in milliseconds
   */
  reset(stored: StoredThread, readAt: number): void {
    this.checkedAt = readAt;
    if (stored.session.revision < this.session.revision && !this.stale) return;
    this.stale = stored.session.revision < this.#newestKnown;
    this.session = stored.session;
    // The snapshot still refers to the old array of settled messages.
    this.quiet = undefined;
    if (this.delivered.size > 0)
      this.delivered = new Set(stored.faults.flatMap(({ n }) => (this.delivered.has(n) ? [n] : [])));
    this.faults = stored.faults.filter(({ n }) => !this.delivered.has(n));
    this.open = stored.open.map((open) => ({ ...open, messages: [...open.messages] }));
    const first = this.open[0]?.turn;
    if (stored.continues) {
      // Turns of this process may have been settled since the read began: those that the read has open are open again.
      if (first !== undefined) this.#dropFrom(first.no);
      const lastNo = this.settled.at(-1)?.turnNo ?? 0;
      const newer = stored.settled.filter(({ turnNo }) => turnNo > lastNo);
      for (const record of newer) this.settled.push(record);
      this.weight += weightOf(newer);
    } else {
      this.settled = [...stored.settled];
      this.skipped = stored.skipped;
      this.skippedFailures = stored.skippedFailures;
      this.needsWhole = false;
      this.weight = weightOf(this.settled);
    }
    if (first !== undefined) this.#holdBack(first);
  }

  /** True if the records show at least `count` messages, or the thread is whole. */
  shows(count: number): boolean {
    if (this.skipped === 0) return true;
    let missing = count - shownIn(this.open.flatMap(({ messages }) => messages));
    for (let at = this.settled.length - 1; at >= 0 && missing > 0; at--) {
      const record = this.settled[at];
      if (record !== undefined) missing -= shownCount(record);
    }
    return missing <= 0;
  }

  /** The id of the earliest record here. */
  get firstId(): string | undefined {
    return (this.settled[0] ?? this.open[0]?.messages[0])?.id;
  }

  /** Adds the records before the earliest one. */
  addEarlier(records: readonly Message[], isWhole: boolean): void {
    this.settled = [...records, ...this.settled];
    this.skipped = isWhole ? 0 : this.skipped - shownIn(records);
    this.skippedFailures = isWhole ? 0 : this.skippedFailures - failuresIn(records);
    this.quiet = undefined;
    this.weight += weightOf(records);
  }

  /** Applies a commit of this process. Calls `change` only if the copy is exactly one revision behind. */
  apply(commit: Commit, change: () => void): void {
    const { revision, lastEventId } = this.session;
    if (commit.revision <= revision) {
      // Either the copy was loaded after the commit, or the store has lost commits, which the next load detects.
      this.stale = true;
      return;
    }
    if (commit.revision > revision + 1) {
      this.noteRevision(commit.revision);
      return;
    }
    this.#newestKnown = Math.max(this.#newestKnown, commit.revision);
    change();
    const newest = commit.events.at(-1)?.id ?? lastEventId;
    this.session = { ...this.session, revision: commit.revision, lastEventId: newest };
    this.#settle();
  }

  findOpen(turnId: string): OpenTurn | undefined {
    return this.open.find(({ turn }) => turn.id === turnId);
  }

  addTurn(turn: Turn, message: Message): void {
    this.open = [...this.open, { turn, messages: [message], partialText: '', partialSince: 0 }];
    if (this.open.length > 1) this.open.sort((a, b) => a.turn.no - b.turn.no);
  }

  /** Adds messages of an open turn, or replaces those with the same id. */
  putMessages(turnId: string, messages: readonly Message[]): void {
    const open = this.findOpen(turnId);
    if (open === undefined) return;
    for (const message of messages) {
      const index = open.messages.findIndex(({ id }) => id === message.id);
      if (index === -1) open.messages.push(message);
      else open.messages[index] = message;
    }
  }

  /** Records that system errors were delivered. */
  markDelivered(numbers: readonly number[]): void {
    this.delivered = new Set([...this.delivered, ...numbers]);
    this.faults = this.faults.filter(({ n }) => !this.delivered.has(n));
  }

  /** Marks turns as ended. Their messages stay in place until `#settle` moves them. */
  endTurns(turns: readonly Turn[]): void {
    for (const turn of turns) {
      const open = this.findOpen(turn.id);
      if (open !== undefined) open.turn = turn;
    }
    const interrupted = turns.some(({ status }) => status === 'interrupted') && !this.processing;
    this.session = { ...this.session, interrupted };
  }

  /**
   * Moves ended turns to the settled messages, from the front only, because the order of turns is the order of the
   * thread.
   */
  #settle(): void {
    for (let [head] = this.open; head !== undefined && !isOpen(head.turn.status); [head] = this.open) {
      this.open.shift();
      const messages = head.messages.sort(byOrder);
      this.settled.push(...messages);
      this.weight += weightOf(messages);
    }
  }

  /** Drops settled messages from a turn on. Replaces the array, because snapshots share it. */
  #dropFrom(turnNo: number): void {
    const kept = this.settled.findLastIndex((message) => message.turnNo < turnNo) + 1;
    if (kept === this.settled.length) return;
    this.weight -= weightOf(this.settled.slice(kept));
    this.settled = this.settled.slice(0, kept);
  }

  /**
   * Moves messages that come after the first open turn back to the open turns: turns cancelled behind a running one
   * must stay behind it.
   */
  #holdBack(first: Turn): void {
    const kept = this.settled.findLastIndex(({ turnNo }) => turnNo <= first.no) + 1;
    const later = this.settled.splice(kept);
    this.weight -= weightOf(later);
    for (const message of later) {
      const held = this.findOpen(message.turnId);
      if (held !== undefined) held.messages.push(message);
      else {
        const turn: Turn = {
          ...first,
          id: message.turnId,
          no: message.turnNo,
          status: 'interrupted',
          error: null,
        };
        this.open.push({ turn, messages: [message], partialText: '', partialSince: 0 });
      }
    }
    this.open.sort((a, b) => a.turn.no - b.turn.no);
  }
}

function weightOf(messages: readonly Message[]): number {
  let weight = 0;
  for (const { content, toolResults } of messages) {
    weight += 200 + content.length + (toolResults === null ? 0 : JSON.stringify(toolResults).length);
  }
  return weight;
}
