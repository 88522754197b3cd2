import type { Message } from '../model/message.js';
import type { SessionRef, SessionStatus } from '../model/session.js';
import { NO_FAULTS, type SystemErrorDelivery } from './system-error-delivery.js';
import type { FaultDelivery, OpenTurnView, Snapshot } from '../model/snapshot.js';
import type { CachedSession, OpenTurn } from './cached-session.js';
import type { SessionCache } from './session-cache.js';

/** What a snapshot shows of a turn that this process works on. */
export interface LiveTurn {
  readonly turn: { readonly attempt: number };
  /** Its records so far. */
  readonly messages: readonly Message[];
  /** The text of the step in flight, and since when there is some (milliseconds since the epoch; 0: not yet). */
  readonly text: string;
  readonly textSince: number;
  /** What an earlier attempt showed of the step that is now made anew. */
  readonly leftover: string;
  /** The place of the next record. */
  readonly nextPosition: number;
}

/** The turns that this process works on. */
export interface LiveTurns {
  inSession(sessionId: string): LiveTurn | undefined;
  findWorking(sessionId: string, turnId: string): LiveTurn | undefined;
}

/** Puts snapshots together: what is stored, from the cache, and the text in flight, from the turns that run here. */
export class Snapshots {
  constructor(
    private readonly threads: SessionCache,
    private readonly liveTurns: LiveTurns,
    private readonly faults: SystemErrorDelivery,
  ) {}

  /**
   * The session as it is now: at once where memory alone has it all. A promise that nearly no poll needs would be made
   * for each.
   * @param options.leavesFaults the snapshot carries none
   * @param options.tail how many of the last messages are wanted: where memory does not have the thread, no more is
   * read
   * @throws RefusedError `not_found`, by its promise
   */
  of(
    ref: SessionRef,
    options: { leavesFaults: boolean; tail: number | undefined },
  ): Snapshot | Promise<Snapshot> {
    const fresh = this.threads.fresh(ref.id);
    const isQuiet = fresh?.faults.length === 0 && !this.#runsElsewhere(fresh);
    return isQuiet ? this.#take(fresh, NO_FAULTS) : this.#lookUp(ref, options);
  }

  async #lookUp(
    ref: SessionRef,
    { leavesFaults, tail }: { leavesFaults: boolean; tail: number | undefined },
  ): Promise<Snapshot> {
    const partial = tail === undefined ? undefined : await this.threads.openTail(ref, tail);
    if (partial !== undefined) {
      return this.#make(partial.thread, await this.#faultsOf(partial.thread, leavesFaults), partial.skipped);
    }
    const thread = await this.threads.open(ref);
    if (this.#runsElsewhere(thread)) await this.threads.refreshFlight(thread);
    return this.#take(thread, await this.#faultsOf(thread, leavesFaults));
  }

  async #faultsOf(thread: CachedSession, leavesFaults: boolean): Promise<FaultDelivery> {
    return leavesFaults || thread.faults.length === 0 ? NO_FAULTS : this.faults.claim(thread);
  }

  #runsElsewhere(thread: CachedSession): boolean {
    return thread.processing && this.liveTurns.inSession(thread.id) === undefined;
  }

  /**
   * Without open turns and faults it is the same object for as long as the session stays as it is, so that what was
   * made of it can be kept.
   * @param faults what this snapshot is to carry
   */
  #take(thread: CachedSession, faults: FaultDelivery): Snapshot {
    if (thread.open.length > 0 || faults !== NO_FAULTS) return this.#make(thread, faults);
    const { quiet } = thread;
    return quiet?.session === thread.session ? quiet : (thread.quiet = this.#make(thread, faults));
  }

  /** @param skipped how many messages of the session come before those of `thread` */
  #make(thread: CachedSession, faults: FaultDelivery, skipped = 0): Snapshot {
    const { session, settled } = thread;
    const open = thread.open.map((turn) => this.#view(turn));
    const status: SessionStatus = thread.processing
      ? 'processing'
      : session.interrupted
        ? 'interrupted'
        : 'idle';
    return {
      session,
      status,
      skipped,
      settled,
      settledCount: settled.length,
      open,
      faults,
      tag: this.#tag(thread, open, faults),
    };
  }

  /** Copies: between the taking of a snapshot and its encoding a turn may go on, and end. */
  #view({ turn, messages: records, partialText, partialSince }: OpenTurn): OpenTurnView {
    const messages = [...records];
    if (turn.status !== 'running') return { messages, streaming: null };
    const here = this.liveTurns.findWorking(turn.sessionId, turn.id);
    const text = here === undefined ? partialText : here.text || here.leftover;
    // The store may have the step as a record, and memory too, before the runner has heard that it is stored.
    const isRecord =
      here !== undefined &&
      here.messages.length > 0 &&
      messages.some(({ position }) => position >= here.nextPosition);
    if (text === '' || isRecord) return { messages, streaming: null };
    return {
      messages,
      streaming: { text, since: (here?.textSince ?? partialSince) || turn.createdAt },
    };
  }

  #tag(thread: CachedSession, open: readonly OpenTurnView[], faults: FaultDelivery): string {
    const running = this.liveTurns.inSession(thread.id);
    const text = open.find(({ streaming }) => streaming !== null)?.streaming?.text ?? '';
    // Whose text of a turn elsewhere it is, is not known here: two of one length may be of two attempts.
    const flight =
      running === undefined && text !== '' ? `${String(text.length)}.${checksum(text)}` : String(text.length);
    // What an earlier attempt showed and what is made anew in its place may have one length.
    const isLeft = running?.text === '' && running.leftover !== '';
    const attempt = running === undefined ? '' : `.${String(running.turn.attempt)}${isLeft ? 'l' : ''}`;
    const told = faults.texts.length === 0 ? '' : `.f${String(thread.faults.at(-1)?.n ?? 0)}`;
    return `${String(thread.session.revision)}.${flight}${attempt}${told}`;
  }
}

/** FNV-1a in 32 bits: 1.5 µs for each thousand characters. */
function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(36);
}
