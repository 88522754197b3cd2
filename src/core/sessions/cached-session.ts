import type { SystemFault, Commit } from '../model/event.js';
import { byOrder, type Message } from '../model/message.js';
import type { Session } from '../model/session.js';
import type { Snapshot } from '../model/snapshot.js';
import type { StoredThread } from '../ports/stored-thread.js';
import { isOpen, type Turn } from '../model/turn.js';

/** A turn that has not been settled: it waits, works, or has ended behind one that still works. */
export interface OpenTurn {
  turn: Turn;
  messages: Message[];
  /** The last checkpoint of the step in flight, as far as this process has read it. */
  partialText: string;
  /** When its first character was shown, in milliseconds since the epoch; 0: not known. */
  partialSince: number;
}

/** Shared by the many sessions that never had a fault. */
const NONE: ReadonlySet<number> = new Set();

/**
 * What memory holds of an active session: a mirror of the store, never ahead of it. Every commit carries the revision
 * that it made; one that follows directly is applied in place, one already seen is skipped, and a hole means that
 * somebody else wrote, so that the mirror is stale and must be read again.
 */
export class CachedSession {
  /** Another object after every change of the thread. */
  session: Session;
  /** Append-only as long as the array is the same object. */
  settled: Message[] = [];
  open: OpenTurn[] = [];
  faults: SystemFault[] = [];
  /** The numbers of faults that went out: a read that began before the store noted it brings none of them back. */
  told: ReadonlySet<number> = NONE;
  /** The claim of another node that keeps the faults back, and when it was first seen, by the steady clock. */
  faultsHeld: { readonly claim: string; readonly since: number } | undefined = undefined;
  stale = false;
  /** Somebody works with it: it must stay in memory. */
  pins = 0;
  /** When it was last known to equal the store, by the steady clock. */
  checkedAt: number;
  /** When it was last used, by the steady clock. */
  usedAt: number;
  /** When the text in flight of a turn that runs elsewhere was last read, by the steady clock. */
  flightAt = -Infinity;
  /** Characters of text held, for the bound of the cache. */
  weight = 0;
  /** How much of `weight` the cache has counted. */
  countedWeight = 0;
  /** The newest revision that the session is known to have come to. */
  #heard = 0;
  /** The snapshot that was taken last while no turn was open. */
  quiet: Snapshot | undefined = undefined;

  /** @param readAt when the session was read from the store, by the steady clock, in milliseconds */
  constructor(session: Session, readAt: number) {
    this.session = session;
    this.checkedAt = readAt;
    this.usedAt = readAt;
  }

  get id(): string {
    return this.session.id;
  }

  /** False for a session that only reads have touched. */
  get stored(): boolean {
    return this.session.revision > 0;
  }

  /** The newest revision that is known of, whether memory has come to it or not. */
  get newestRevision(): number {
    return Math.max(this.session.revision, this.#heard);
  }

  get processing(): boolean {
    return this.open.some(({ turn }) => isOpen(turn.status));
  }

  /** The session has come to this revision, here or elsewhere: what is older is stale. */
  heard(revision: number): void {
    this.#heard = Math.max(this.#heard, revision);
    if (this.session.revision < revision) this.stale = true;
  }

  /**
   * Takes over what the store says, unless memory is already further. Stays stale when the read was made before the
   * newest commit.
   * @param readAt when it was read, by the steady clock, in milliseconds
   */
  reset(stored: StoredThread, readAt: number): void {
    this.checkedAt = readAt;
    if (stored.session.revision < this.session.revision && !this.stale) return;
    this.stale = stored.session.revision < this.#heard;
    this.session = stored.session;
    // It holds what was settled before.
    this.quiet = undefined;
    if (this.told.size > 0)
      this.told = new Set(stored.faults.flatMap(({ n }) => (this.told.has(n) ? [n] : [])));
    this.faults = stored.faults.filter(({ n }) => !this.told.has(n));
    this.open = stored.open.map((open) => ({ ...open, messages: [...open.messages] }));
    const first = this.open[0]?.turn;
    this.settled = [...stored.settled];
    if (first !== undefined) this.#holdBack(first);
    this.weight = weightOf(this.settled);
  }

  /** Applies a commit of this process. `change` runs only if the mirror is exactly one revision behind. */
  apply(commit: Commit, change: () => void): void {
    const { revision, lastEventId } = this.session;
    if (commit.revision <= revision) return;
    if (commit.revision > revision + 1) {
      this.heard(commit.revision);
      return;
    }
    this.#heard = Math.max(this.#heard, commit.revision);
    change();
    const newest = commit.events.at(-1)?.id ?? lastEventId;
    this.session = { ...this.session, revision: commit.revision, lastEventId: newest };
    this.#settle();
  }

  findOpen(turnId: string): OpenTurn | undefined {
    return this.open.find(({ turn }) => turn.id === turnId);
  }

  /** Adds a turn with its user message. */
  addTurn(turn: Turn, message: Message): void {
    this.open = [...this.open, { turn, messages: [message], partialText: '', partialSince: 0 }];
    if (this.open.length > 1) this.open.sort((a, b) => a.turn.no - b.turn.no);
  }

  /** Adds records of an open turn, or replaces those with the same id. */
  putMessages(turnId: string, messages: readonly Message[]): void {
    const open = this.findOpen(turnId);
    if (open === undefined) return;
    for (const message of messages) {
      const index = open.messages.findIndex(({ id }) => id === message.id);
      if (index === -1) open.messages.push(message);
      else open.messages[index] = message;
    }
  }

  /** Faults went out. */
  tell(numbers: readonly number[]): void {
    this.told = new Set([...this.told, ...numbers]);
    this.faults = this.faults.filter(({ n }) => !this.told.has(n));
  }

  /** Notes the end of turns. What was shown of them stays where it is. */
  endTurns(turns: readonly Turn[]): void {
    for (const turn of turns) {
      const open = this.findOpen(turn.id);
      if (open !== undefined) open.turn = turn;
    }
    const interrupted = turns.some(({ status }) => status === 'interrupted') && !this.processing;
    this.session = { ...this.session, interrupted };
  }

  /** Ended turns leave the open ones from the front only: the order of turns is the order of the thread. */
  #settle(): void {
    for (let [head] = this.open; head !== undefined && !isOpen(head.turn.status); [head] = this.open) {
      this.open.shift();
      const messages = head.messages.sort(byOrder);
      this.settled.push(...messages);
      this.weight += weightOf(messages);
    }
  }

  /** Turns that were cancelled behind a running one are kept behind it. */
  #holdBack(first: Turn): void {
    const cut = this.settled.findIndex(({ turnNo }) => turnNo > first.no);
    if (cut === -1) return;
    for (const message of this.settled.splice(cut)) {
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
