import { Redis } from 'ioredis';

/** How long a connection may take to be made, in milliseconds. */
const CONNECT_MS = 5_000;
/** How long the other side may take to agree to an end. */
const DISCONNECT_MS = 500;
const MAX_RETRY_MS = 2_000;

/** How a connection is made. */
export interface ConnectionOptions {
  readonly url: string;
  /** What `CLIENT LIST` shows. */
  readonly name: string;
  /**
   * How often a silent connection is asked whether it still is one, and how long its answer may take, in milliseconds.
   */
  readonly heartbeatMs: number;
}

/** What happens to a connection. */
export interface ConnectionEvents {
  onReady(): void;
  /** It is lost, or could not be made. Called for each attempt. */
  onLost(cause: Error | null): void;
}

/** One connection to Redis that comes back by itself. Nothing waits in it: what cannot be sent now fails. */
export class Connection {
  readonly client: Redis;
  #heartbeat: NodeJS.Timeout | undefined;
  /** Runs while an answer is waited for. */
  #patience: NodeJS.Timeout | undefined;
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
      // Signals are not repeated: a turn that seems to start again would take back what was shown.
      autoResendUnfulfilledCommands: false,
      disableClientInfo: true,
    });
    this.client.on('error', (error: Error) => (this.#cause = error));
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

  /** Resolves after the first attempt, whatever came of it. */
  async open(): Promise<void> {
    this.#heartbeat = setInterval(() => {
      this.#beat();
    }, this.options.heartbeatMs);
    this.#heartbeat.unref();
    // It is tried again behind the scenes.
    await this.client.connect().catch(() => undefined);
  }

  close(): void {
    clearInterval(this.#heartbeat);
    this.#stopWaiting();
    this.client.disconnect();
  }

  /** Ends a connection that does not answer, for it may have died without a word. */
  #beat(): void {
    if (!this.isReady || this.#patience !== undefined) return;
    this.#patience = setTimeout(() => {
      this.#patience = undefined;
      this.client.disconnect(true);
    }, this.options.heartbeatMs);
    const answered = (): void => {
      this.#stopWaiting();
    };
    this.client.ping().then(answered, answered);
  }

  #stopWaiting(): void {
    clearTimeout(this.#patience);
    this.#patience = undefined;
  }
}
