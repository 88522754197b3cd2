import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Signal } from '../../../core/model/event.js';
import { codeOf } from '../../platform/node/error-code.js';
import { LocalListeners } from '../local-listeners.js';
import type { Bus } from '../../../core/ports/bus.js';
import type { Log } from '../../../core/ports/log.js';
import { Connection, refusalOf } from './connection.js';
import { Outbox } from './outbox.js';
import { Subscriptions } from './subscriptions.js';
import { channelsOf, decode } from './wire.js';

export interface RedisBusOptions {
  /** `redis://user:password@host:port/number`, or `rediss://` for TLS. */
  readonly url: string;
  /** Prefix of every channel name: nodes with the same server and prefix share signals. */
  readonly prefix: string;
  readonly log: Log;
  /** Interval of the heartbeat, and the timeout of its reply, in milliseconds. Default 1500. */
  readonly heartbeatMs?: number;
}

/** How long to wait for Redis at startup, and for the last signals at shutdown, in milliseconds. */
const START_MS = 3_000;
const FAREWELL_MS = 1_000;
/** Short, so that nodes soon compare with the store instead. */
const HEARTBEAT_MS = 1_500;
/** Minimum interval between log lines about malformed messages, in milliseconds. */
const WARNING_MS = 10_000;

/** Codes of attempts to connect while nothing is there: they add nothing to the report of the lost connection. */
const LOST: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT']);

/** What a listener receives in place of a signal that was not transmitted: it must read the store. */
const MISSED: Signal = { type: 'missed' };

/**
 * Opens a bus between nodes. `publish` delivers a signal on this node synchronously and sends it to other nodes through
 * Redis. Resolves even when Redis is unavailable: until it is back, signals stay on this node.
 * @throws Error when the URL is not a Redis URL
 */
export async function openRedisBus(options: RedisBusOptions): Promise<Bus> {
  if (!/^rediss?:$/.test(protocolOf(options.url))) {
    throw new Error('the URL of Redis must begin with redis:// or rediss://');
  }
  const bus = new RedisBus(options);
  await bus.open();
  return bus;
}

class RedisBus implements Bus {
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
  /** The codes of errors that were logged since Redis is away. */
  readonly #logged = new Set<unknown>();
  /** True after Redis has refused to publish or to subscribe, until it has accepted both again. */
  #isRefused = false;
  readonly #retryMs: number;
  #retryTimer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #warnedAt = -Infinity;

  constructor({ url, prefix, log, heartbeatMs = HEARTBEAT_MS }: RedisBusOptions) {
    this.#log = log;
    const { everybody, session } = channelsOf(prefix);
    this.#prefix = session;
    this.#everybody = everybody;
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
    this.#retryMs = heartbeatMs;
    const onFailed = (error: unknown): void => {
      this.#noteFailure(error);
    };
    this.#outbox = new Outbox(this.#node, this.#sending, this.#everybody, onFailed);
    this.#subscriptions = new Subscriptions(this.#hearing, this.#everybody, onFailed);
    this.#hearing.client.on('message', (channel: string, text: string) => {
      this.#receive(channel, text);
    });
  }

  get isUp(): boolean {
    return this.#sending.isReady && this.#hearing.isReady && !this.#isRefused;
  }

  async open(): Promise<void> {
    const timer = new AbortController();
    const opened = Promise.all([this.#sending.open(), this.#hearing.open().then(() => this.#listening)]);
    const timeout = pause(START_MS, undefined, { signal: timer.signal }).catch(() => undefined);
    await Promise.race([opened, timeout]);
    timer.abort();
  }

  publish(sessionId: string, signal: Signal): void {
    if (this.#isClosed) return;
    // Before the local delivery, so that a signal that a listener publishes in reaction follows this one on every node.
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
    clearTimeout(this.#retryTimer);
    this.#local.clear();
    this.#subscriptions.close();
    this.#outbox.flush();
    if (this.#sending.isReady) {
      const timer = new AbortController();
      const timeout = pause(FAREWELL_MS, undefined, { signal: timer.signal }).catch(() => undefined);
      // Redis replies in order: the reply to this PING confirms everything sent before it.
      await Promise.race([this.#sending.client.ping().catch(() => undefined), timeout]);
      timer.abort();
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
    // Signals published while this connection was down did not arrive here.
    this.#local.deliverToAll(MISSED);
  }

  #receive(channel: string, text: string): void {
    // This node's own signals were already delivered locally by `publish`.
    if (text.startsWith(this.#node)) return;
    // A channel stays subscribed for a moment after its last listener has gone.
    const isOfAll = channel === this.#everybody;
    const sessionId = channel.slice(this.#prefix.length);
    if (!isOfAll && !this.#local.has(sessionId)) return;
    const carried = decode(this.#node, text);
    if (carried === undefined) {
      this.#warnMalformed();
      return;
    }
    const signals = carried.map((entry) => (entry.type === 'missed' ? MISSED : entry));
    for (const signal of signals) {
      if (isOfAll) this.#local.deliverToAll(signal);
      else this.#local.deliver(sessionId, signal);
    }
  }

  #warnMalformed(): void {
    const now = performance.now();
    if (now - this.#warnedAt < WARNING_MS) return;
    this.#warnedAt = now;
    this.#log.warn({}, 'ignored a malformed message from Redis');
  }

  /** Counts a command as refused that Redis has replied to with an error, as for a user without the right to the channels. */
  #noteFailure(error: unknown): void {
    const refusal = refusalOf(error);
    if (this.#isClosed || refusal === undefined) return;
    this.#isRefused = true;
    this.#leave(refusal);
    this.#retrySoon();
  }

  #retrySoon(): void {
    this.#retryTimer ??= setTimeout(() => {
      void this.#retry();
    }, this.#retryMs).unref();
  }

  /** Tries to publish and to subscribe again. Never rejects. */
  async #retry(): Promise<void> {
    const accepted = await Promise.all([this.#outbox.probe(), this.#subscriptions.restore()]);
    this.#retryTimer = undefined;
    if (this.#isClosed) return;
    if (accepted.includes(false)) {
      this.#retrySoon();
      return;
    }
    this.#isRefused = false;
    this.#outbox.flush();
    this.#arrive();
    this.#local.deliverToAll(MISSED);
  }

  #leave(cause: Error | null): void {
    if (this.#isClosed) return;
    const code = codeOf(cause);
    if (!this.#isAway) {
      this.#isAway = true;
      this.#log.warn({ err: cause }, 'Redis is unavailable: signals stay on this node until it is back');
    } else if (code !== undefined && !LOST.has(code) && !this.#logged.has(code)) {
      this.#log.warn({ err: cause }, 'Redis is still unavailable');
    }
    this.#logged.add(code);
  }

  #arrive(): void {
    if (!this.#isAway || !this.isUp) return;
    this.#isAway = false;
    this.#logged.clear();
    this.#log.info({}, 'Redis is available again');
  }
}

function protocolOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : '';
}
