import type { Message } from '../model/message.js';
import type { SessionRef, SessionStatus } from '../model/session.js';
import { NO_FAULTS, type SystemErrorDelivery } from './system-error-delivery.js';
import type { FaultDelivery, OpenTurnView, Snapshot } from '../model/snapshot.js';
import type { CachedSession, OpenTurn } from './cached-session.js';
import type { SessionCache } from './session-cache.js';

/** The state of a turn that runs in this process, as snapshots show it. */
export interface LiveTurn {
  readonly turn: { readonly attempt: number };
  /** Its messages so far. */
  readonly messages: readonly Message[];
  /**
   * The text of the step in flight, and when its first character was published (milliseconds since the epoch; 0: no
   * text yet).
   */
  readonly text: string;
  readonly textSince: number;
  /** Text of the repeated step that an earlier attempt published. */
  readonly leftover: string;
  /** The position of the turn's next message. */
  readonly nextPosition: number;
}

/** The turns that run in this process. */
export interface LiveTurns {
  inSession(sessionId: string): LiveTurn | undefined;
  findWorking(sessionId: string, turnId: string): LiveTurn | undefined;
}

/** Builds snapshots: stored data from the cache, text in flight from the turns that run in this process. */
export class Snapshots {
  constructor(
    private readonly threads: SessionCache,
    private readonly liveTurns: LiveTurns,
    private readonly faults: SystemErrorDelivery,
  ) {}

  /**
   * Returns the current state of the session. Returns synchronously when the cache alone can serve it, which saves
   * nearly every poll a promise.
   * @param options.leavesFaults the snapshot carries no system errors
   * @param options.tail how many of the last messages the caller needs: limits how much of an uncached thread is read
   * @throws RefusedError `not_found`, as a rejected promise
   */
  of(
    ref: SessionRef,
    options: { leavesFaults: boolean; tail: number | undefined },
  ): Snapshot | Promise<Snapshot> {
    const fresh = this.threads.fresh(ref.id);
    const isQuiet =
      fresh?.faults.length === 0 && fresh.shows(options.tail ?? Infinity) && !this.#runsElsewhere(fresh);
    return isQuiet ? this.#take(fresh, NO_FAULTS) : this.#lookUp(ref, options);
  }

  async #lookUp(
    ref: SessionRef,
    { leavesFaults, tail }: { leavesFaults: boolean; tail: number | undefined },
  ): Promise<Snapshot> {
    const partial = tail === undefined ? undefined : await this.threads.openTail(ref, tail);
    if (partial !== undefined) return this.#make(partial, await this.#faultsOf(partial, leavesFaults));
    const thread = await (tail === undefined ? this.threads.openWhole(ref) : this.#openShowing(ref, tail));
    if (this.#runsElsewhere(thread)) await this.threads.refreshFlight(thread);
    return this.#take(thread, await this.#faultsOf(thread, leavesFaults));
  }

  /** The session may have been evicted since it was found to show enough. */
  async #openShowing(ref: SessionRef, tail: number): Promise<CachedSession> {
    const thread = await this.threads.open(ref);
    return thread.shows(tail) ? thread : this.threads.openWhole(ref);
  }

  async #faultsOf(thread: CachedSession, leavesFaults: boolean): Promise<FaultDelivery> {
    return leavesFaults || thread.faults.length === 0 ? NO_FAULTS : this.faults.claim(thread);
  }

  #runsElsewhere(thread: CachedSession): boolean {
    return thread.processing && this.liveTurns.inSession(thread.id) === undefined;
  }

  /**
   * Without open turns and system errors, returns the same object until the session changes, so that encodings of it
   * can be cached.
   * @param faults the system errors that this snapshot carries
   */
  #take(thread: CachedSession, faults: FaultDelivery): Snapshot {
    if (thread.open.length > 0 || faults !== NO_FAULTS) return this.#make(thread, faults);
    const { quiet } = thread;
    return quiet?.session === thread.session ? quiet : (thread.quiet = this.#make(thread, faults));
  }

  #make(thread: CachedSession, faults: FaultDelivery): Snapshot {
    const { session, settled, skipped, skippedFailures } = thread;
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
      skippedFailures,
      settled,
      settledCount: settled.length,
      open,
      faults,
      tag: this.#tag(thread, open, faults),
    };
  }

  /** Copies the messages, because the turn may continue before the snapshot is encoded. */
  #view({ turn, messages: records, partialText, partialSince }: OpenTurn): OpenTurnView {
    const messages = [...records];
    if (turn.status !== 'running') return { messages, streaming: null };
    const here = this.liveTurns.findWorking(turn.sessionId, turn.id);
    const text = here === undefined ? partialText : here.text || here.leftover;
    // The store and the cache may already have the step as a message before the runner has received the
    // acknowledgement.
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
    // For a turn on another node the attempt is unknown here, and texts of two attempts may have the same length.
    const flight =
      running === undefined && text !== '' ? `${String(text.length)}.${checksum(text)}` : String(text.length);
    // The text of an earlier attempt and its replacement may have the same length.
    const isLeft = running?.text === '' && running.leftover !== '';
    const attempt = running === undefined ? '' : `.${String(running.turn.attempt)}${isLeft ? 'l' : ''}`;
    const faultTag = faults.events.length === 0 ? '' : `.f${String(thread.faults.at(-1)?.n ?? 0)}`;
    return `${String(thread.session.revision)}.${flight}${attempt}${faultTag}`;
  }
}

/** FNV-1a, 32 bits. */
function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(36);
}
