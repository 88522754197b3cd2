import { Redis } from 'ioredis';

/** Timeout for establishing a connection, in milliseconds. */
const CONNECT_MS = 5_000;
/** How long a graceful disconnect may take, in milliseconds. */
const DISCONNECT_MS = 500;
const MAX_RETRY_MS = 2_000;

export interface ConnectionOptions {
  readonly url: string;
  /** The connection name that `CLIENT LIST` shows. */
  readonly name: string;
  /** Interval of the `PING` that checks the connection, and the timeout of its reply, in milliseconds. */
  readonly heartbeatMs: number;
}

export interface ConnectionEvents {
  onReady(): void;
  /** The connection was lost or could not be established. Called after each failed attempt. */
  onLost(cause: Error | null): void;
}

/** One connection to Redis, which reconnects automatically. It queues nothing: while it is down, commands fail. */
export class Connection {
  readonly client: Redis;
  #heartbeat: NodeJS.Timeout | undefined;
  /** Runs while a `PING` awaits its reply. */
  #pingTimeout: NodeJS.Timeout | undefined;
  #cause: Error | null = null;

  constructor(
    private readonly options: ConnectionOptions,
    events: ConnectionEvents,
  ) {
    this.client = new Redis(options.url, {
      connectionName: options.name,
      lazyConnect: true,
      connectTimeout: CONNECT_MS,
      disconnectTimeout: DISCONNECT_MS,
      keepAlive: 10_000,
      retryStrategy: (times) => Math.min(times * 100, MAX_RETRY_MS),
      enableOfflineQueue: false,
      maxRetriesPerRequest: null,
      autoResubscribe: false,
      // Signals are never resent: a repeated `turn_started` would make clients discard text they have already shown.
      autoResendUnfulfilledCommands: false,
      disableClientInfo: true,
    });
    this.client.on('error', (error: Error) => (this.#cause = refusalOf(error) ?? error));
    this.client.on('ready', () => {
      this.#cause = null;
      events.onReady();
    });
    this.client.on('close', () => {
      this.#stopWaiting();
      events.onLost(this.#cause);
    });
  }

  get isReady(): boolean {
    return this.client.status === 'ready';
  }

  /** Connects. Resolves after the first attempt, whether it succeeded or not. */
  async open(): Promise<void> {
    this.#heartbeat = setInterval(() => {
      this.#beat();
    }, this.options.heartbeatMs);
    this.#heartbeat.unref();
    // ioredis retries in the background.
    await this.client.connect().catch(() => undefined);
  }

  close(): void {
    clearInterval(this.#heartbeat);
    this.#stopWaiting();
    this.client.disconnect();
  }

  /** Sends a `PING` and drops the connection if no reply arrives: a half-open connection reports no error. */
  #beat(): void {
    if (!this.isReady || this.#pingTimeout !== undefined) return;
    this.#pingTimeout = setTimeout(() => {
      this.#pingTimeout = undefined;
      this.client.disconnect(true);
    }, this.options.heartbeatMs);
    const answered = (): void => {
      this.#stopWaiting();
    };
    this.client.ping().then(answered, answered);
  }

  #stopWaiting(): void {
    clearTimeout(this.#pingTimeout);
    this.#pingTimeout = undefined;
  }
}

/**
 * Converts an error reply of Redis to an error that may be logged: its code is the first word of the reply, such as
 * `NOPERM` or `WRONGPASS`. The rest of the reply and the command are left out.
 * @returns undefined for other errors, which are those of a connection that is lost, or is about to be
 */
export function refusalOf(error: unknown): Error | undefined {
  if (!(error instanceof Error) || error.name !== 'ReplyError') return undefined;
  return Object.assign(new Error('Redis has refused a command'), { code: error.message.split(' ', 1)[0] });
}
