import { endingAfter } from './turn-ending.js';
import { settledWithin, type Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { Observer } from '../ports/observer.js';
import type { CoreSettings } from '../model/settings.js';
import type { SessionCache } from '../sessions/session-cache.js';
import type { Signal } from '../model/event.js';
import { storePatiently } from './store-retry.js';
import { closeTurn } from './close-turn.js';
import { INTERRUPTED_RESULT, type Message } from '../model/message.js';
import { announce, type Bus } from '../ports/bus.js';
import { tokenUses } from '../model/quota.js';
import { RunningTurn } from './running-turn.js';
import { type TurnEnding, type Store } from '../ports/store.js';
import type { Lease, ClaimedTurn } from '../model/turn.js';
import type { CachedSession } from '../sessions/cached-session.js';
import type { Titles } from './titles.js';
import type { Ending, TurnLoop } from './turn-loop.js';

/** Where turns are stored, and who is told of them. */
export interface RunnerParts {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly observer: Observer;
  readonly settings: CoreSettings;
  readonly threads: SessionCache;
}

/** Works on the turns that this process has claimed, one of a session at a time, and ends them. */
export class Runner {
  readonly #running = new Map<string, RunningTurn>();
  readonly #work = new Map<RunningTurn, Promise<void>>();
  #isDraining = false;

  /** @param owner names this process among all that share the store */
  constructor(
    private readonly parts: RunnerParts,
    private readonly steps: TurnLoop,
    private readonly titles: Titles,
    readonly owner: string,
  ) {}

  /** How this process claims turns; null while it drains: then it claims none. */
  get claim(): Lease | null {
    return this.#isDraining ? null : this.lease;
  }

  get lease(): Lease {
    return { owner: this.owner, milliseconds: this.parts.settings.leaseMs };
  }

  get all(): readonly RunningTurn[] {
    return [...this.#running.values()];
  }

  /** What this process works on in a session. */
  inSession(sessionId: string): RunningTurn | undefined {
    return this.#running.get(sessionId);
  }

  /** A turn of a session, if this process works on it. */
  findWorking(sessionId: string, turnId: string): RunningTurn | undefined {
    const running = this.inSession(sessionId);
    return running?.turn.id === turnId ? running : undefined;
  }

  /** Resolves when this process has nothing more to do with a turn. */
  finished(running: RunningTurn): Promise<void> {
    return this.#work.get(running) ?? Promise.resolve();
  }

  /** Stops a turn as interrupted: here, or by an order to whoever works on it. */
  interrupt(sessionId: string, turnId: string): void {
    const here = this.findWorking(sessionId, turnId);
    if (here !== undefined) here.stop('interrupted');
    else this.parts.bus.publish(sessionId, { type: 'interrupt', turnId });
  }

  /** Begins to work on a claimed turn, and on those that wait behind it. */
  start(claimed: ClaimedTurn): void {
    const { observer, clock } = this.parts;
    const observed = observer.started(claimed);
    const running = new RunningTurn(claimed, [], observed, clock.monotonic());
    // An older attempt of this very process: its lease lapsed, so that it may not go on.
    this.#running.get(claimed.sessionId)?.stop('lost');
    this.#running.set(claimed.sessionId, running);
    this.#work.set(running, this.#run(running));
  }

  /**
   * Claims no more, lets what runs go on for so long, then stops it unended and gives it back. Queued turns stay
   * queued. Resolves when nothing runs.
   */
  async drain(milliseconds: number): Promise<void> {
    this.#isDraining = true;
    await settledWithin(this.parts.clock, Promise.all(this.#work.values()), milliseconds);
    const left = this.all;
    for (const running of left) running.stop('handover');
    await Promise.all(this.#work.values());
    if (left.length === 0) return;
    const ids = left.map(({ turn }) => turn.id);
    try {
      await this.parts.store.releaseTurns(this.owner, ids);
    } catch (error) {
      this.parts.log.warn(
        { err: error, turns: ids },
        'turns could not be given back; they are recovered when their lease is over',
      );
    }
  }

  /** Never rejects. */
  async #run(running: RunningTurn): Promise<void> {
    try {
      const thread = await this.#threadOf(running.turn);
      const { clock, settings } = this.parts;
      const cancelTimeout = clock.after(settings.turnTimeoutMs, () => {
        running.stop('timeout');
      });
      const listening = this.#listen(running);
      thread.pins++;
      try {
        this.#tellStart(running, thread);
        let ending: Ending | undefined;
        try {
          ending = await this.steps.work(running, thread);
        } catch (error) {
          ending = endingAfter(error, running, {
            log: this.parts.log,
            turnTimeoutMs: this.parts.settings.turnTimeoutMs,
          });
        }
        cancelTimeout();
        if (ending !== undefined) await this.#end(running, thread, ending);
      } finally {
        cancelTimeout();
        thread.pins--;
        (await listening)();
      }
    } catch (error) {
      this.parts.log.error({ err: error, turn: running.turn.id }, 'a turn was left to be recovered');
    } finally {
      this.#work.delete(running);
      this.#leave(running);
    }
  }

  #tellStart(running: RunningTurn, thread: CachedSession): void {
    const { turn } = running;
    const open = thread.findOpen(turn.id);
    if (open !== undefined) {
      open.turn = turn;
      for (const message of open.messages) running.put(message);
    }
    const { id: turnId, attempt, sessionId } = turn;
    this.parts.bus.publish(sessionId, { type: 'turn_started', turnId, attempt });
  }

  /**
   * Subscribes to what stops a turn from outside: interrupts from other nodes and the deletion of its session. A bus
   * that is slow to attach does not hold up the turn, because both also arrive with the renewal of the lease.
   */
  #listen(running: RunningTurn): Promise<() => void> {
    const { id, sessionId } = running.turn;
    const hear = (signal: Signal): void => {
      if (signal.type === 'interrupt' && signal.turnId === id) running.stop('interrupted');
      if (signal.type === 'session_deleted') running.stop('deleted');
    };
    return this.parts.bus.subscribe(sessionId, hear).catch((error: unknown) => {
      this.parts.log.warn({ err: error, turn: id }, 'the bus was not heard for a turn');
      return () => undefined;
    });
  }

  async #threadOf(turn: ClaimedTurn): Promise<CachedSession> {
    const ref = { id: turn.sessionId, ifUnknown: 'refuse' } as const;
    const { threads } = this.parts;
    // What an earlier owner has stored a moment ago must not be done again. The first one has none before it.
    const thread = await (turn.attempt === 1 ? threads.open(ref) : threads.openChecked(ref));
    if (thread.findOpen(turn.id) !== undefined) return thread;
    thread.stale = true;
    return threads.open(ref);
  }

  async #end(running: RunningTurn, thread: CachedSession, ending: Ending): Promise<void> {
    const { turn } = running;
    const closing = await running.inSequence(async () => {
      const { messages, events } = closeTurn(
        turn,
        running.messages,
        {
          text: shownText(running, ending),
          since: running.textSince,
          error: ending.error,
          words: ending.closeWords ?? INTERRUPTED_RESULT,
        },
        this.parts.clock,
      );
      const { inputTokens, outputTokens } = running.usage;
      const { settings, clock } = this.parts;
      const written: TurnEnding = {
        outcome: ending.outcome,
        messages,
        events,
        error: ending.error,
        rig: running.rigId,
        usage: running.usage,
        shownTokens: running.shownTokens,
        uses: tokenUses(settings.limits, turn, inputTokens + outputTokens, clock.now()),
        claimNext: this.claim,
        at: this.parts.clock.now(),
      };
      const stored = await storePatiently(this.parts, turn.id, () => this.parts.store.endTurn(turn, written));
      if (stored === 'lost') {
        // A later attempt has it, or this very end was stored and only its acknowledgement was lost.
        thread.stale = true;
        return messages;
      }
      const { commit, next } = stored;
      running.hasEnded = true;
      running.observed.ended(ending.outcome, running.rigId);
      // In one breath: the mirror, the text in flight and the runner change together, so that no snapshot falls
      // between.
      thread.apply(commit, () => {
        thread.putMessages(turn.id, messages);
        thread.endTurns([{ ...turn, status: ending.outcome, error: ending.error }]);
        thread.session = { ...thread.session, activeAt: this.parts.clock.now() };
      });
      // The number of the new fault is the store's: read it before the next snapshot.
      if (ending.error !== null) thread.stale = true;
      running.text = running.leftover = '';
      this.#leave(running);
      announce(this.parts.bus, turn.sessionId, commit);
      this.#announceEnd(running, messages, ending);
      if (next !== null) this.start(next);
      return messages;
    });
    if (ending.outcome !== 'complete') return;
    const records = [...running.messages, ...closing];
    this.titles.make(thread, running, { records, asksRig: !this.#isDraining });
  }

  #announceEnd(running: RunningTurn, messages: readonly Message[], ending: Ending): void {
    const { sessionId, id: turnId } = running.turn;
    const told = new Set(
      running.messages.flatMap(({ toolResults }) => toolResults?.map(({ callId }) => callId) ?? []),
    );
    for (const result of messages.flatMap(({ toolResults }) => toolResults ?? [])) {
      if (!told.has(result.callId))
        this.parts.bus.publish(sessionId, { type: 'tool_returned', turnId, result });
    }
    this.parts.bus.publish(sessionId, {
      type: 'turn_ended',
      turnId,
      outcome: ending.outcome,
      error: ending.error,
    });
  }

  /** Safe to call more than once. */
  #leave(running: RunningTurn): void {
    if (this.#running.get(running.turn.sessionId) === running) this.#running.delete(running.turn.sessionId);
    running.finish();
  }
}

/**
 * What of the step in flight is kept. An answer that is complete has nothing of an attempt before it; of one that is
 * not, it is the most that was shown.
 */
function shownText({ text, leftover }: RunningTurn, { outcome }: Ending): string {
  return text === '' && outcome !== 'complete' ? leftover : text;
}
