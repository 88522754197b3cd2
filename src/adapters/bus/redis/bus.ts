import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Signal } from '../../../core/model/event.js';
import { LocalListeners } from '../local-listeners.js';
import type { Bus } from '../../../core/ports/bus.js';
import type { Log } from '../../../core/ports/log.js';
import { Connection } from './connection.js';
import { Outbox } from './outbox.js';
import { Subscriptions } from './subscriptions.js';
import { decode } from './wire.js';

/** Where the server is, and what the channels are called. */
export interface RedisBusOptions {
  /** `redis://user:password@host:port/number`, or `rediss://` for TLS. */
  readonly url: string;
  /** Begins the name of every channel: nodes that share it, and the server, share signals. */
  readonly prefix: string;
  readonly log: Log;
  /** How often the connections are tried, and how long an answer may take, in milliseconds. Default 5000. */
  readonly heartbeatMs?: number;
}

/** A bus that reaches other nodes while Redis is there. */
export interface SharedBus extends Bus {
  readonly isUp: boolean;
}

/** How long to wait for Redis at the start, and for the last signals at the end, in milliseconds. */
const START_MS = 3_000;
const FAREWELL_MS = 1_000;
const HEARTBEAT_MS = 5_000;
/** How often a line is logged about messages that cannot be understood. */
const COMPLAINT_MS = 10_000;

/** What a listener gets in place of a signal that was not carried. The number says nothing: look into the store. */
const MISSED: Signal = { type: 'missed' };

/**
 * A bus between nodes. On this node a signal is delivered before `publish` returns; to other nodes it goes through
 * Redis, if that is there. Resolves also when it is not: then signals reach this node alone until it is back.
 * @throws Error when the URL is none of Redis
 */
export async function openRedisBus(options: RedisBusOptions): Promise<SharedBus> {
  if (!/^rediss?:$/.test(protocolOf(options.url))) {
    throw new Error('the URL of Redis must begin with redis:// or rediss://');
  }
  const bus = new RedisBus(options);
  await bus.open();
  return bus;
}

class RedisBus implements SharedBus {
  readonly #node = randomUUID();
  readonly #prefix: string;
  readonly #everybody: string;
  readonly #log: Log;
  readonly #local = new LocalListeners();
  readonly #sending: Connection;
  readonly #hearing: Connection;
  readonly #outbox: Outbox;
  readonly #subscriptions: Subscriptions;
  #listening = Promise.resolve();
  #hasMissed = false;
  #isAway = false;
  #isClosed = false;
  #complainedAt = -Infinity;

  constructor({ url, prefix, log, heartbeatMs = HEARTBEAT_MS }: RedisBusOptions) {
    this.#log = log;
    this.#prefix = `${prefix}:session:`;
    this.#everybody = `${prefix}:everybody`;
    this.#sending = new Connection(
      { url, name: `${prefix}:sending`, heartbeatMs },
      {
        onReady: () => {
          this.#outbox.resume();
          this.#arrive();
        },
        onLost: (cause) => {
          this.#outbox.suspend();
          this.#leave(cause);
        },
      },
    );
    this.#hearing = new Connection(
      { url, name: `${prefix}:hearing`, heartbeatMs },
      {
        onReady: () => {
          this.#listening = this.#listen();
        },
        onLost: (cause) => {
          this.#hasMissed = true;
          this.#leave(cause);
        },
      },
    );
    this.#outbox = new Outbox(this.#node, this.#sending, this.#everybody);
    this.#subscriptions = new Subscriptions(this.#hearing, this.#everybody);
    this.#hearing.client.on('message', (channel: string, text: string) => {
      this.#receive(channel, text);
    });
  }

  get isUp(): boolean {
    return this.#sending.isReady && this.#hearing.isReady;
  }

  async open(): Promise<void> {
    const patience = new AbortController();
    const opened = Promise.all([this.#sending.open(), this.#hearing.open().then(() => this.#listening)]);
    const late = pause(START_MS, undefined, { signal: patience.signal }).catch(() => undefined);
    await Promise.race([opened, late]);
    patience.abort();
  }

  publish(sessionId: string, signal: Signal): void {
    if (this.#isClosed) return;
    // Before the local delivery: what a listener publishes in answer comes after it everywhere.
    this.#outbox.add(this.#prefix + sessionId, signal);
    this.#local.deliver(sessionId, signal);
  }

  async subscribe(sessionId: string, listener: (signal: Signal) => void): Promise<() => void> {
    const remove = this.#local.add(sessionId, listener);
    const channel = this.#prefix + sessionId;
    await this.#subscriptions.add(channel);
    let isAttached = true;
    return () => {
      if (!isAttached) return;
      isAttached = false;
      remove();
      this.#subscriptions.remove(channel);
    };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#local.clear();
    this.#outbox.flush();
    if (this.#sending.isReady) {
      const patience = new AbortController();
      const late = pause(FAREWELL_MS, undefined, { signal: patience.signal }).catch(() => undefined);
      // Answered after everything that was sent before.
      await Promise.race([this.#sending.client.ping().catch(() => undefined), late]);
      patience.abort();
    }
    this.#sending.close();
    this.#hearing.close();
  }

  /** Never rejects. */
  async #listen(): Promise<void> {
    await this.#subscriptions.restore();
    this.#arrive();
    if (!this.#hasMissed || !this.#hearing.isReady) return;
    this.#hasMissed = false;
    // Whatever was said meanwhile was not heard here.
    this.#local.deliverToAll(MISSED);
  }

  #receive(channel: string, text: string): void {
    // What this node has sent was delivered here before it was sent.
    if (text.startsWith(this.#node)) return;
    const carried = decode(this.#node, text);
    if (carried === undefined) {
      this.#complain();
      return;
    }
    const signals = carried.map((entry) => (entry.type === 'missed' ? MISSED : entry));
    for (const signal of signals) {
      if (channel === this.#everybody) this.#local.deliverToAll(signal);
      else this.#local.deliver(channel.slice(this.#prefix.length), signal);
    }
  }

  #complain(): void {
    const now = performance.now();
    if (now - this.#complainedAt < COMPLAINT_MS) return;
    this.#complainedAt = now;
    this.#log.warn({}, 'a message from Redis could not be understood and was ignored');
  }

  #leave(cause: Error | null): void {
    if (this.#isClosed || this.#isAway) return;
    this.#isAway = true;
    this.#log.warn({ err: cause }, 'Redis is away: signals reach this node alone until it is back');
  }

  #arrive(): void {
    if (!this.#isAway || !this.#sending.isReady || !this.#hearing.isReady) return;
    this.#isAway = false;
    this.#log.info({}, 'Redis is back');
  }
}

function protocolOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : '';
}
