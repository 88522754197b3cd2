import type { Watch } from './watch.js';
import type { Bus } from '../ports/bus.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { SessionCache } from '../sessions/session-cache.js';
import type { TurnUpdate, Update } from '../model/update.js';
import type { Feed } from '../model/feed.js';
import type { Sent } from '../model/send-request.js';
import type { SessionRef } from '../model/session.js';
import { QueueFeed } from './queue-feed.js';
import type { Runner } from '../turns/runner.js';
import { SessionTurns } from './session-turns.js';
import type { SessionHead, Store } from '../ports/store.js';
import type { TurnSource } from './turn-follower.js';
import { TurnStream } from './turn-stream.js';
import { EventSubscription } from './event-subscription.js';

/**
 * How often streams are compared with the store to catch signals that the bus has lost, the same while the bus is down,
 * and how many sessions per query. Text that another node generates is in the store after 600 ms: then streams show it
 * within a second.
 */
const SWEEP_MS = 2_000;
const SWEEP_DOWN_MS = 250;
const SWEEP_BATCH = 500;
/** The head of a session that the store does not have: it was only read, or the store has lost it. */
const UNKNOWN: SessionHead = { revision: 0, lastEventId: 0 };

/** The dependencies of `Streams`. */
export interface StreamParts {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly threads: SessionCache;
}

/** Opens and tracks the streams of this process. */
export class Streams {
  readonly #watches = new Map<string, Set<Watch>>();
  #cancelSweep: (() => void) | undefined;
  #isSweeping = false;
  /** Sessions whose streams are about to be compared. */
  readonly #toCompare = new Set<string>();
  #isComparingSoon = false;
  /** When the last sweep began, by the monotonic clock, in milliseconds. */
  #sweptAt = 0;
  #isClosed = false;
  readonly #source: TurnSource;

  constructor(
    private readonly parts: StreamParts,
    private readonly runner: Runner,
  ) {
    const { store, clock, log } = parts;
    this.#source = { store, clock, log, inSession: (sessionId) => runner.inSession(sessionId) };
  }

  start(): void {
    const { clock, bus } = this.parts;
    this.#sweptAt = clock.monotonic();
    this.#cancelSweep = clock.every(SWEEP_DOWN_MS, () => {
      if (!bus.isUp || clock.monotonic() - this.#sweptAt >= SWEEP_MS) void this.#compare();
    });
  }

  /** Ends every stream. Streams opened later end at once. */
  close(): void {
    this.#isClosed = true;
    this.#cancelSweep?.();
    for (const watches of [...this.#watches.values()])
      for (const watch of [...watches]) watch.cut('draining');
  }

  /** Subscribes to the updates of a session. The subscription is active when the promise resolves. */
  async updates(ref: SessionRef, options: { after: number | null; turns: boolean }): Promise<Feed<Update>> {
    const { id, session } = await this.parts.threads.open(ref);
    return this.#open<Update, EventSubscription>(
      (feed) =>
        new EventSubscription(
          id,
          feed,
          this.parts,
          options.turns ? new SessionTurns(id, feed, this.#source) : null,
        ),
      (watch) => {
        watch.begin(options.after, session.lastEventId);
      },
    );
  }

  /** Streams one turn from its start to its end. The subscription is active when the promise resolves. */
  watchTurn(sent: Sent): Promise<Feed<TurnUpdate>> {
    return this.#open<TurnUpdate, TurnStream>(
      (feed) => new TurnStream(sent, feed, this.#source),
      (watch) => (this.#waits(sent) ? undefined : watch.begin()),
    );
  }

  /** True if the cache knows that the turn is still queued: then there is nothing to read yet. */
  #waits({ sessionId, turnId }: Sent): boolean {
    if (this.runner.findWorking(sessionId, turnId) !== undefined) return false;
    return this.parts.threads.peek(sessionId)?.findOpen(turnId)?.turn.status === 'queued';
  }

  async #open<T extends Update | TurnUpdate, W extends Watch>(
    make: (feed: QueueFeed<T>) => W,
    begin: (watch: W) => Promise<void> | void,
  ): Promise<Feed<T>> {
    let detach: () => void = () => undefined;
    const feed = new QueueFeed<T>(weighUpdate, () => {
      watch.close();
      detach();
    });
    const watch = make(feed);
    detach = await this.#attach(watch);
    if (feed.ended) detach();
    try {
      await begin(watch);
    } catch (error) {
      feed.close();
      throw error;
    }
    if (this.#isClosed) watch.cut('draining');
    return feed;
  }

  async #attach(watch: Watch): Promise<() => void> {
    const { sessionId } = watch;
    const watches = this.#watches.get(sessionId) ?? new Set();
    this.#watches.set(sessionId, watches.add(watch));
    const unsubscribe = await this.parts.bus.subscribe(sessionId, (signal) => {
      if (signal.type === 'session_changed') this.parts.threads.noteRevision(sessionId, signal.revision);
      // A session that was deleted may have been created again since.
      if (signal.type === 'session_deleted' || signal.type === 'missed') this.#compareSoon(sessionId);
      else watch.receive(signal);
    });
    return () => {
      unsubscribe();
      watches.delete(watch);
      if (watches.size === 0 && this.#watches.get(sessionId) === watches) this.#watches.delete(sessionId);
    };
  }

  /** Compares the streams of a session with the store, once for signals that all of them received. Never throws. */
  #compareSoon(sessionId: string): void {
    this.#toCompare.add(sessionId);
    if (this.#isComparingSoon) return;
    this.#isComparingSoon = true;
    setImmediate(() => {
      void this.#compareWaiting();
    });
  }

  /**
   * Compares the sessions of `#toCompare` in batches, one after the other: after an interruption of the bus these are
   * all sessions that have streams. Never rejects.
   */
  async #compareWaiting(): Promise<void> {
    try {
      while (this.#toCompare.size > 0) {
        const ids = [...this.#toCompare].slice(0, SWEEP_BATCH);
        // Removed before the read: a signal that arrives during it causes another one.
        for (const id of ids) this.#toCompare.delete(id);
        await this.#compareThese(ids);
      }
    } catch (error) {
      // The next sweep compares them.
      this.#toCompare.clear();
      this.parts.log.warn({ err: error }, 'failed to compare streams with the store');
    } finally {
      this.#isComparingSoon = false;
    }
  }

  /** Never rejects. */
  async #compare(): Promise<void> {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    this.#sweptAt = this.parts.clock.monotonic();
    try {
      const ids = [...this.#watches.keys()];
      for (let from = 0; from < ids.length; from += SWEEP_BATCH) {
        await this.#compareThese(ids.slice(from, from + SWEEP_BATCH));
        // Yields to the event loop between batches.
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
    } catch (error) {
      this.parts.log.warn({ err: error }, 'failed to compare streams with the store');
    } finally {
      this.#isSweeping = false;
    }
  }

  async #compareThese(ids: readonly string[]): Promise<void> {
    const heads = await this.parts.store.heads(ids);
    for (const id of ids) {
      const head = heads.get(id) ?? UNKNOWN;
      if (head !== 'deleted') this.parts.threads.peek(id)?.compare(head.revision);
      for (const watch of [...(this.#watches.get(id) ?? [])]) {
        if (head === 'deleted') watch.cut('deleted');
        else watch.compare(head);
      }
    }
  }
}

function weighUpdate(update: Update | TurnUpdate): number {
  switch (update.type) {
    case 'text':
      return 150 + 2 * update.content.length;
    case 'logged':
      return (
        200 +
        2 *
          (update.event.body.type === 'tool_complete' ? JSON.stringify(update.event.body.result).length : 100)
      );
    case 'tool_returned':
      return 150 + 2 * JSON.stringify(update.result.result).length;
    case 'tool_called':
      return 150 + 2 * JSON.stringify(update.call.args).length;
    case 'turn_started':
    case 'turn_ended':
    case 'gap':
    case 'cut':
      return 200;
  }
}
