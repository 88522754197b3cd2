import { pause, settledWithin, type Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { Observer } from '../ports/observer.js';
import type { SessionCache } from '../sessions/session-cache.js';
import { closeTurn } from './close-turn.js';
import type { SessionRef } from '../model/session.js';
import { INTERRUPTED_RESULT } from '../model/message.js';
import { announce, type Bus } from '../ports/bus.js';
import type { Runner } from './runner.js';
import type { Store } from '../ports/store.js';
import { NO_USAGE, type Turn, type TurnOutcome } from '../model/turn.js';

type SessionRevision = Awaited<ReturnType<Store['revisionOf']>>;

/** How long an interrupt waits for the turn's owner to store the turn's end, and how often it polls the store. */
const PATIENCE_MS = 3_000;
const POLL_MS = 100;

/** The dependencies of `Interrupts`. */
export interface InterruptParts {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly observer: Observer;
  readonly threads: SessionCache;
}

/** Cancels the running turn and the queued turns of a session. */
export class Interrupts {
  constructor(
    private readonly parts: InterruptParts,
    private readonly runner: Runner,
  ) {}

  /** Returns true if there was a turn to cancel. All of them have ended when the promise resolves. */
  async interrupt(ref: SessionRef): Promise<boolean> {
    const { threads, store, bus, clock, observer } = this.parts;
    const thread = await threads.open(ref);
    if (!thread.stored) return false;
    return threads.hold(thread, async () => {
      const ended = await this.#endOf(thread.id);
      try {
        // The order matters: the store must mark the queued turns before the running one ends, else ending it claims
        // the next one.
        const marking = store.interruptTurns(thread.id, clock.now());
        const here = this.runner.inSession(thread.id);
        here?.stop('interrupted');
        const interruption = await marking;
        if (interruption === undefined) {
          // The local turn has already ended in the store: by itself, or because the stop was faster than the mark. The
          // cache must be updated before a snapshot is taken.
          if (here !== undefined)
            await settledWithin(this.parts.clock, this.runner.finished(here), PATIENCE_MS);
          return here !== undefined && ended.wasInterrupted(here.turn.id);
        }
        const { cancelled, running, commit } = interruption;
        thread.apply(commit, () => {
          thread.endTurns(cancelled);
        });
        announce(bus, thread.id, commit);
        for (const turn of cancelled) {
          observer.cancelled(turn);
          const ending = { outcome: 'interrupted', error: null } as const;
          bus.publish(thread.id, { type: 'turn_ended', turnId: turn.id, ...ending });
        }
        if (running !== null) await this.#stop(running, commit.revision, ended);
        return true;
      } finally {
        ended.close();
      }
    });
  }

  /**
   * Orders the turn's owner to stop, and fences it off if it does not respond in time.
   * @param revision the session's revision when the turn was marked
   */
  async #stop(turn: Turn, revision: number, ended: EndWatch): Promise<void> {
    const order = (): void => {
      this.runner.interrupt(turn.sessionId, turn.id);
    };
    // Repeated when the turn starts: a node may have claimed it without listening for orders yet.
    ended.onStart(turn.id, order);
    order();
    const waiting = new AbortController();
    const stored = this.#untilStored(turn, revision, waiting.signal);
    const isOver = await Promise.race([ended.of(turn.id, PATIENCE_MS), stored]);
    waiting.abort(new Error('The turn has ended or will be fenced off'));
    if (!isOver) await this.runner.claiming(() => this.#fence(turn));
  }

  /**
   * Polls the store, in case the bus loses the signal. Resolves with true once the turn has ended or its session was
   * deleted, with false when the signal aborts.
   */
  async #untilStored(turn: Turn, revision: number, signal: AbortSignal): Promise<boolean> {
    const { store, threads, log } = this.parts;
    let known: SessionRevision = revision;
    for (;;) {
      try {
        await pause(this.parts.clock, POLL_MS, signal);
        const newest = await store.revisionOf(turn.sessionId);
        if (newest === known) continue;
        if ((await store.readFlight(turn.sessionId))?.turnId !== turn.id) {
          if (typeof newest === 'number') threads.noteRevision(turn.sessionId, newest);
          return true;
        }
        known = newest;
      } catch (error) {
        if (signal.aborted) return false;
        log.warn({ err: error, turn: turn.id }, 'failed to read whether an interrupted turn has ended');
      }
    }
  }

  /**
   * Takes the turn over from an unresponsive owner and ends it with its last checkpoint. The fencing token makes the
   * store reject the owner's later writes.
   */
  async #fence(turn: Turn): Promise<void> {
    const { store, bus, clock, threads, log, observer } = this.parts;
    log.warn({ turn: turn.id }, 'fenced off the unresponsive owner of an interrupted turn');
    const claimed = await store.takeOver(turn.id, this.runner.lease);
    if (claimed === undefined) return;
    this.runner.findWorking(turn.sessionId, turn.id)?.stop('lost');
    const records = (await store.readTurn(turn.sessionId, turn.id))?.messages ?? [];
    const { partialText: text, partialSince: since } = claimed;
    const closing = { text, since, error: null, words: INTERRUPTED_RESULT };
    const { messages, events } = closeTurn(turn, records, closing, clock);
    const askedAt = clock.monotonic();
    const stored = await store.endTurn(claimed, {
      ...{
        outcome: 'interrupted',
        messages,
        events,
        error: null,
        rig: null,
        usage: NO_USAGE,
        shownTokens: 0,
        uses: [],
      },
      ...{ claimNext: this.runner.claim, at: clock.now() },
    });
    if (stored === 'lost') return;
    observer.cancelled(turn);
    const thread = threads.peek(turn.sessionId);
    if (thread !== undefined) thread.stale = true;
    announce(bus, turn.sessionId, stored.commit);
    bus.publish(turn.sessionId, { type: 'turn_ended', turnId: turn.id, outcome: 'interrupted', error: null });
    if (stored.next !== null) this.runner.start(stored.next, askedAt);
  }

  /**
   * Watches the ends of turns. Subscribe before the order is given, so that none is missed. Not `session_deleted`, which
   * may be about an earlier session with the same id: `#untilStored` reads whether this one was deleted.
   */
  async #endOf(sessionId: string): Promise<EndWatch> {
    const ends = new Map<string, TurnOutcome>();
    const starts = new Map<string, () => void>();
    let wake: (() => void) | null = null;
    const close = await this.parts.bus.subscribe(sessionId, (signal) => {
      if (signal.type === 'turn_ended') ends.set(signal.turnId, signal.outcome);
      if (signal.type === 'turn_started') starts.get(signal.turnId)?.();
      if (signal.type === 'session_changed') this.parts.threads.noteRevision(sessionId, signal.revision);
      wake?.();
    });
    const of = (turnId: string, milliseconds: number): Promise<boolean> =>
      new Promise((resolve) => {
        const cancel = this.parts.clock.after(milliseconds, () => {
          resolve(ends.has(turnId));
        });
        wake = () => {
          if (!ends.has(turnId)) return;
          cancel();
          resolve(true);
        };
        wake();
      });
    const onStart = (turnId: string, act: () => void): void => {
      starts.set(turnId, act);
    };
    return { wasInterrupted: (turnId) => ends.get(turnId) === 'interrupted', of, onStart, close };
  }
}

interface EndWatch {
  /** True if the turn has ended as interrupted since the watch began. */
  wasInterrupted(turnId: string): boolean;
  /** Resolves with true once the turn has ended, with false after the timeout. */
  of(turnId: string, milliseconds: number): Promise<boolean>;
  /** Calls `act` whenever an attempt at the turn starts. */
  onStart(turnId: string, act: () => void): void;
  close(): void;
}
