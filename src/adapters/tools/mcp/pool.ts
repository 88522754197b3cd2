import { untilAborted } from '../../../core/model/abort.js';
import { pauseAfter } from './backoff.js';
import type { Connection } from './connection.js';
import { McpFailure } from './failure.js';
import type { McpTiming } from './settings.js';

interface Entry {
  readonly opening: Promise<Connection>;
  connection: Connection | null;
  /** Calls that use it, or wait for it. */
  users: number;
  lastUsed: number;
  idle: NodeJS.Timeout | undefined;
}

/** A key whose last attempts failed. */
interface Brake {
  readonly failures: number;
  readonly until: number;
  readonly failure: unknown;
}

/** Connections that each belong to certain secret values, by a digest of these; bounded, and closed when idle. */
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
   * Does `work` over the connection of that key, which `open` makes if there is none.
   * @throws McpFailure when there is none to be had, or whatever `work` throws
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
    this.#stopped.abort(new Error('The service closes.'));
    for (const [key, entry] of this.#entries) this.#drop(key, entry);
    await Promise.all(this.#closing);
  }

  #entryOf(key: string, open: (signal: AbortSignal) => Promise<Connection>): Entry {
    const known = this.#entries.get(key);
    const isDead = known?.connection?.isOpen === false;
    if (known !== undefined && !isDead) return known;
    if (known !== undefined) this.#drop(key, known);
    if (this.#stopped.signal.aborted) throw new McpFailure('unreachable', 'The service closes.');
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

  /** @throws McpFailure when all are in use */
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
    // One that is being made ends by itself when it could not be made.
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
