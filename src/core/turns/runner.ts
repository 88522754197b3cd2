import { endingAfter, shownText } from './turn-ending.js';
import { announceEnd, announceStart } from './turn-signals.js';
import { threadOf } from './turn-thread.js';
import { attemptUse, LeftAttempts } from './left-attempts.js';
import { settledWithin, type Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { Observer } from '../ports/observer.js';
import type { CoreSettings } from '../model/settings.js';
import type { SessionCache } from '../sessions/session-cache.js';
import { listenForStops, stopIfDeleted } from './outside-stops.js';
import { storePatiently } from './store-retry.js';
import { closeTurn } from './close-turn.js';
import { INTERRUPTED_RESULT } from '../model/message.js';
import { RefusedError } from '../model/refusal.js';
import { announce, type Bus } from '../ports/bus.js';
import { RunningTurn } from './running-turn.js';
import { type TurnEnding, type Store } from '../ports/store.js';
import type { Lease, ClaimedTurn } from '../model/turn.js';
import type { CachedSession } from '../sessions/cached-session.js';
import type { Titles } from './titles.js';
import type { Ending, TurnLoop } from './turn-loop.js';

/** The dependencies of `Runner`. */
export interface RunnerParts {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly observer: Observer;
  readonly settings: CoreSettings;
  readonly threads: SessionCache;
}

/** Runs the turns that this process has claimed, one per session at a time. */
export class Runner {
  readonly #running = new Map<string, RunningTurn>();
  /** What a drain waits for: turns, and requests that may claim some. */
  readonly #work = new Map<object, Promise<unknown>>();
  readonly left: LeftAttempts;
  #isDraining = false;

  /** @param owner identifies this process among all that share the store */
  constructor(
    private readonly parts: RunnerParts,
    private readonly steps: TurnLoop,
    private readonly titles: Titles,
    readonly owner: string,
  ) {
    this.left = new LeftAttempts(parts);
  }

  /** The lease to claim turns with; null while draining: no turn may be claimed. */
  get claim(): Lease | null {
    return this.#isDraining ? null : this.lease;
  }

  get lease(): Lease {
    return { owner: this.owner, milliseconds: this.parts.settings.leaseMs };
  }

  get all(): readonly RunningTurn[] {
    return [...this.#running.values()];
  }

  /** Returns the turn of a session that runs in this process. */
  inSession(sessionId: string): RunningTurn | undefined {
    return this.#running.get(sessionId);
  }

  /** Returns a turn if it runs in this process. */
  findWorking(sessionId: string, turnId: string): RunningTurn | undefined {
    const running = this.inSession(sessionId);
    return running?.turn.id === turnId ? running : undefined;
  }

  /** Resolves when this process has finished or abandoned a turn. */
  finished(running: RunningTurn): Promise<unknown> {
    return this.#work.get(running) ?? Promise.resolve();
  }

  /** Interrupts a turn: directly if it runs here, else by a signal to its owner. */
  interrupt(sessionId: string, turnId: string): void {
    const here = this.findWorking(sessionId, turnId);
    if (here !== undefined) here.stop('interrupted');
    else this.parts.bus.publish(sessionId, { type: 'interrupt', turnId });
  }

  /** Makes a request that may claim turns, and starts them. A drain waits for it, lest a claim outlive its process. */
  async claiming<T>(request: () => Promise<T>): Promise<T> {
    const made = request();
    const settled = made.catch(() => undefined);
    this.#work.set(settled, settled);
    return made.finally(() => this.#work.delete(settled));
  }

  /**
   * Runs a turn whose claim was part of a commit, and then the turns queued behind it.
   * @param heldSince when the claim was requested, by the monotonic clock, in milliseconds
   */
  start(claimed: ClaimedTurn, heldSince: number): void {
    const running = new RunningTurn(claimed, [], this.parts.observer.started(claimed), heldSince);
    const earlier = this.#running.get(claimed.sessionId);
    if (earlier === undefined || earlier.turn.id === claimed.id) this.#begin(running);
    else this.#work.set(running, this.#beginIfHeld(running, earlier));
  }

  #begin(running: RunningTurn): void {
    // An earlier attempt in this process has lost its lease and must not continue.
    this.#running.get(running.turn.sessionId)?.stop('lost');
    this.#running.set(running.turn.sessionId, running);
    this.#work.set(running, this.#run(running));
  }

  /**
   * Asks the store which of two turns of a session this process still owns. The earlier one may have lost its lease; the
   * later one may belong to a session that was deleted, and created again for the earlier one, before the result of the
   * claim arrived. Never rejects.
   */
  async #beginIfHeld(running: RunningTurn, earlier: RunningTurn): Promise<void> {
    const { store, log } = this.parts;
    const { id } = running.turn;
    try {
      const held = await store.renewLeases(this.lease, [id]);
      if (held.length === 0) running.stop('lost');
    } catch (error) {
      log.warn({ err: error, turn: id }, 'failed to read which turn of a session has a lease');
    }
    const present = this.inSession(running.turn.sessionId);
    if (running.isStopped) await this.#leave(running);
    else if (present === undefined || present === earlier) this.#begin(running);
    else await this.#beginIfHeld(running, present);
  }

  /**
   * Runs a turn that was claimed without a new revision of its session. The cached session may lack earlier turns
   * although its revision is current, so it is reloaded first.
   */
  recover(claimed: ClaimedTurn, heldSince: number): void {
    const cached = this.parts.threads.peek(claimed.sessionId);
    if (cached !== undefined) cached.stale = true;
    this.start(claimed, heldSince);
  }

  /**
   * Stops claiming turns, waits up to `milliseconds` for the running ones, then stops the rest without ending them and
   * releases their leases, and those of turns that start meanwhile. Queued turns stay queued. Resolves when none runs.
   */
  async drain(milliseconds: number): Promise<void> {
    this.#isDraining = true;
    await settledWithin(this.parts.clock, this.#idle(), milliseconds);
    while (this.#work.size > 0) {
      const left = this.all;
      for (const running of left) running.stop('handover');
      await (left.length === 0
        ? Promise.race(this.#work.values())
        : Promise.all(left.map((running) => this.finished(running))));
      if (left.length > 0) await this.#release(left.map(({ turn }) => turn.id));
    }
    await this.left.count();
  }

  /** Resolves when no turn is running. A turn that was claimed before a drain can start during it. */
  async #idle(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work.values());
  }

  async #release(ids: readonly string[]): Promise<void> {
    try {
      await this.parts.store.releaseTurns(this.owner, ids);
    } catch (error) {
      this.parts.log.warn(
        { err: error, turns: ids },
        'failed to release turns, which are recovered when their leases expire',
      );
    }
  }

  /** Never rejects. */
  async #run(running: RunningTurn): Promise<void> {
    try {
      const thread = await threadOf(this.parts, running);
      const { clock, log, settings } = this.parts;
      const cancelTimeout = clock.after(settings.turnTimeoutMs, () => {
        running.stop('timeout');
      });
      const listening = listenForStops(this.parts, running);
      thread.pins++;
      try {
        announceStart(this.parts.bus, running, thread);
        let ending: Ending | undefined;
        try {
          ending = await this.steps.work(running, thread);
        } catch (error) {
          ending = endingAfter(error, running, { log, turnTimeoutMs: settings.turnTimeoutMs });
        }
        cancelTimeout();
        if (ending !== undefined) await this.#end(running, thread, ending);
      } finally {
        // A turn without an ending may already run on another node.
        this.#forget(running);
        cancelTimeout();
        thread.pins--;
        (await listening)();
      }
    } catch (error) {
      // Its session was deleted before its thread was read: there is nothing to recover.
      if (error instanceof RefusedError) return;
      this.parts.log.error({ err: error, turn: running.turn.id }, 'left a turn for recovery');
    } finally {
      this.#forget(running);
      await this.#leave(running);
    }
  }

  async #leave(running: RunningTurn): Promise<void> {
    if (!running.hasEnded && running.leftAs === 'lost') await stopIfDeleted(this.parts.store, running);
    running.finish();
    if (!running.hasEnded) this.left.add(running);
    // A drain records the usage of all turns itself, after it has released their leases.
    if (!this.#isDraining) await this.left.count();
    this.#work.delete(running);
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
      const { clock } = this.parts;
      const written: TurnEnding = {
        outcome: ending.outcome,
        messages,
        events,
        error: ending.error,
        rig: running.rigId,
        ...attemptUse(running, this.parts),
        claimNext: this.claim,
        at: clock.now(),
      };
      let askedAt = 0;
      const stored = await storePatiently(this.parts, turn.id, () => {
        askedAt = clock.monotonic();
        return this.parts.store.endTurn(turn, written);
      });
      if (stored === 'lost') {
        // A later attempt owns the turn, or this end was stored and its acknowledgement was lost.
        thread.stale = true;
        return messages;
      }
      const { commit, next } = stored;
      running.hasEnded = true;
      running.observed.ended(ending.outcome, running.rigId);
      // Synchronous on purpose: no snapshot may observe the cached session, the text in flight and the runner in
      // different states.
      thread.apply(commit, () => {
        thread.putMessages(turn.id, messages);
        thread.endTurns([{ ...turn, status: ending.outcome, error: ending.error }]);
        thread.session = { ...thread.session, activeAt: clock.now() };
      });
      // The store numbers the new system error: reload the session before the next snapshot.
      if (ending.error !== null) thread.stale = true;
      running.text = running.leftover = '';
      this.#forget(running);
      announce(this.parts.bus, turn.sessionId, commit);
      announceEnd(this.parts.bus, running, messages, ending);
      if (next !== null) this.start(next, askedAt);
      return messages;
    });
    if (ending.outcome !== 'complete') return;
    const records = [...running.messages, ...closing];
    this.titles.make(thread, running, { records, asksRig: !this.#isDraining });
  }

  #forget(running: RunningTurn): void {
    if (this.#running.get(running.turn.sessionId) === running) this.#running.delete(running.turn.sessionId);
  }
}
