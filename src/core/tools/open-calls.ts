import type { OpenCall, OpenCallSight } from '../ports/call-store.js';
import type { EventBody, Commit } from '../model/event.js';
import { LeaseWatch } from '../ports/lease-watch.js';
import { UNKNOWN_OUTCOME_RESULT } from '../model/message.js';
import { announce, type Bus } from '../ports/bus.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { CoreSettings } from '../model/settings.js';
import type { Store } from '../ports/store.js';
import type { Lease } from '../model/turn.js';
import type { SessionCache } from '../sessions/session-cache.js';

/** The interval between searches for abandoned calls. */
const LOOK_MS = 1_000;

/** The dependencies of `OpenCalls`. */
export interface OpenCallParts {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly threads: SessionCache;
  readonly settings: Pick<CoreSettings, 'leaseMs' | 'renewMs'>;
}

/**
 * Tracks tool calls outside turns. Each has a lease in the store, which this process renews while the call runs. When a
 * process dies, another process finds the expired lease and ends the call as failed, with an unknown outcome.
 */
export class OpenCalls {
  readonly #here = new Set<string>();
  readonly #watch: LeaseWatch;
  #timers: readonly (() => void)[] = [];
  #isLooking = false;

  constructor(
    private readonly parts: OpenCallParts,
    private readonly owner: string,
  ) {
    this.#watch = new LeaseWatch(parts.settings.leaseMs);
  }

  /** Ends abandoned calls, then starts renewing leases. */
  async start(): Promise<void> {
    await this.#endLost();
    const { clock, settings } = this.parts;
    this.#timers = [
      clock.every(settings.renewMs, () => void this.#renew()),
      clock.every(LOOK_MS, () => void this.#endLost()),
    ];
  }

  stop(): void {
    for (const cancel of this.#timers) cancel();
  }

  /** Stores the start of a call and publishes it. Returns false if the session was deleted. */
  async begin(call: OpenCall, event: EventBody): Promise<boolean> {
    const commit = await this.parts.store.openCall(call, this.#lease, event, this.parts.clock.now());
    if (commit === undefined) return false;
    this.#here.add(call.callId);
    this.#announce(call.sessionId, commit);
    return true;
  }

  /** Stores and publishes a progress event, unless another process has ended the call. */
  async log(call: Pick<OpenCall, 'callId' | 'sessionId'>, event: EventBody): Promise<void> {
    const commit = await this.parts.store.logCall(call.callId, this.owner, event, this.parts.clock.now());
    if (commit !== undefined) this.#announce(call.sessionId, commit);
  }

  /** Stores and publishes the end of a call, unless another process has ended it. */
  async end(callId: string, event: EventBody): Promise<void> {
    try {
      const { store, clock } = this.parts;
      const closed = await store.closeCall(callId, { owner: this.owner }, event, clock.now());
      if (closed !== undefined) this.#announce(closed.sessionId, closed.commit);
    } finally {
      // If the end could not be stored, the lease expires and the call is ended as abandoned.
      this.#here.delete(callId);
    }
  }

  get #lease(): Lease {
    return { owner: this.owner, milliseconds: this.parts.settings.leaseMs };
  }

  #announce(sessionId: string, commit: Commit): void {
    this.parts.threads.peek(sessionId)?.apply(commit, () => undefined);
    announce(this.parts.bus, sessionId, commit);
  }

  /** Never rejects. */
  async #renew(): Promise<void> {
    if (this.#here.size === 0) return;
    try {
      await this.parts.store.renewCalls(this.#lease, [...this.#here]);
    } catch (error) {
      this.parts.log.warn({ err: error, calls: this.#here.size }, 'failed to renew leases of tool calls');
    }
  }

  /** Never rejects. */
  async #endLost(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const { store, clock, log } = this.parts;
    try {
      const askedAt = clock.monotonic();
      const open = await store.readCallLeases();
      const lost = this.#watch.findLost(open, { askedAt, answeredAt: clock.monotonic() });
      const calls = new Map(open.map((call) => [call.id, call]));
      for (const { id, mark } of lost) {
        const call = calls.get(id);
        if (call !== undefined && !this.#here.has(id)) await this.#endAsLost(call, mark);
      }
    } catch (error) {
      log.warn({ err: error }, 'failed to look for abandoned tool calls');
    } finally {
      this.#isLooking = false;
    }
  }

  async #endAsLost({ id, toolName }: OpenCallSight, mark: string): Promise<void> {
    const { store, clock, log } = this.parts;
    const event: EventBody = {
      ...{ type: 'tool_complete', callId: id, toolName },
      ...{ failed: true, result: UNKNOWN_OUTCOME_RESULT },
    };
    const closed = await store.closeCall(id, { mark }, event, clock.now());
    if (closed === undefined) return;
    log.info({ tool: toolName }, 'ended an abandoned tool call');
    this.#announce(closed.sessionId, closed.commit);
  }
}
