import { untilAborted } from '../../../core/model/abort.js';
import { pauseAfter } from './backoff.js';
import type { Connection } from './connection.js';
import { McpFailure } from './failure.js';
import type { McpTiming } from './settings.js';

interface Entry {
  readonly opening: Promise<Connection>;
  connection: Connection | null;
  /** Number of calls that use the connection or wait for it. */
  users: number;
  lastUsed: number;
  idle: NodeJS.Timeout | undefined;
}

/** Backoff of a key whose last attempts to connect failed. */
interface Brake {
  readonly failures: number;
  readonly until: number;
  readonly failure: unknown;
}

/** A bounded pool of connections, keyed by a digest of the secrets that they use. Closes idle connections. */
export class ConnectionPool {
  readonly #entries = new Map<string, Entry>();
  readonly #brakes = new Map<string, Brake>();
  readonly #closing = new Set<Promise<void>>();
  readonly #stopped = new AbortController();

  constructor(
    private readonly server: string,
    private readonly timing: McpTiming,
  ) {}

  get size(): number {
    return this.#entries.size;
  }

  /**
   * Runs `work` with the connection of a key; calls `open` if there is none.
   * @throws McpFailure when no connection is available, or the error of `work`
   */
  async use<T>(
    key: string,
    signal: AbortSignal,
    open: (signal: AbortSignal) => Promise<Connection>,
    work: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    const entry = this.#entryOf(key, open);
    entry.users++;
    clearTimeout(entry.idle);
    try {
      return await work(await untilAborted(entry.opening, signal));
    } finally {
      entry.users--;
      entry.lastUsed = performance.now();
      if (entry.users === 0) this.#waitIdle(key, entry);
    }
  }

  async close(): Promise<void> {
    this.#stopped.abort(new Error('The service is shutting down.'));
    for (const [key, entry] of this.#entries) this.#drop(key, entry);
    await Promise.all(this.#closing);
  }

  #entryOf(key: string, open: (signal: AbortSignal) => Promise<Connection>): Entry {
    const known = this.#entries.get(key);
    const isDead = known?.connection?.isOpen === false;
    if (known !== undefined && !isDead) return known;
    if (known !== undefined) this.#drop(key, known);
    if (this.#stopped.signal.aborted) throw new McpFailure('unreachable', 'The service is shutting down.');
    const brake = this.#brakes.get(key);
    if (brake !== undefined && performance.now() < brake.until) throw brake.failure;
    this.#makeRoom();
    const entry: Entry = {
      opening: open(this.#stopped.signal),
      connection: null,
      users: 0,
      lastUsed: performance.now(),
      idle: undefined,
    };
    this.#entries.set(key, entry);
    entry.opening.then(
      (connection) => {
        entry.connection = connection;
        this.#brakes.delete(key);
        void connection.ended.then(() => {
          this.#drop(key, entry);
        });
      },
      (failure: unknown) => {
        this.#drop(key, entry);
        this.#brake(key, failure);
      },
    );
    return entry;
  }

  #brake(key: string, failure: unknown): void {
    const failures = (this.#brakes.get(key)?.failures ?? 0) + 1;
    this.#brakes.delete(key);
    this.#brakes.set(key, {
      failures,
      until: performance.now() + pauseAfter(failures, this.timing),
      failure,
    });
    for (const oldest of this.#brakes.keys()) {
      if (this.#brakes.size <= this.timing.poolSize) break;
      this.#brakes.delete(oldest);
    }
  }

  /** Evicts the least recently used idle connection if the pool is full. @throws McpFailure when all are in use */
  #makeRoom(): void {
    if (this.#entries.size < this.timing.poolSize) return;
    const [longest] = [...this.#entries]
      .filter(([, { users }]) => users === 0)
      .sort(([, a], [, b]) => a.lastUsed - b.lastUsed);
    if (longest === undefined) {
      throw new McpFailure(
        'unreachable',
        `The tool server ${this.server} is busy with others; try again later.`,
      );
    }
    this.#drop(...longest);
  }

  #waitIdle(key: string, entry: Entry): void {
    clearTimeout(entry.idle);
    if (this.#entries.get(key) !== entry) return;
    entry.idle = setTimeout(() => {
      this.#drop(key, entry);
    }, this.timing.idleMs);
    entry.idle.unref();
  }

  #drop(key: string, entry: Entry): void {
    clearTimeout(entry.idle);
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
    // A failed opening leaves nothing to close.
    const closing = entry.opening.then(
      (connection) => connection.close(),
      () => undefined,
    );
    const settled = Promise.allSettled([closing]).then(() => {
      this.#closing.delete(settled);
    });
    this.#closing.add(settled);
  }
}
