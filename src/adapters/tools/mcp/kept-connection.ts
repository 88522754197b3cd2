import { untilAborted } from '../../../core/model/abort.js';
import type { Log } from '../../../core/ports/log.js';
import { pauseAfter } from './backoff.js';
import type { Connection } from './connection.js';
import { McpFailure } from './failure.js';
import type { McpTiming } from './settings.js';

export interface KeptParts {
  readonly server: string;
  readonly log: Log;
  readonly timing: McpTiming;
  /** Connects and makes the connection ready for use. */
  open(signal: AbortSignal): Promise<Connection>;
  /** Called after each attempt to connect; null: it succeeded. */
  onAttempt(failure: Error | null): void;
}

/** Keeps one connection open in the background; reconnects with backoff whenever it ends. */
export class KeptConnection {
  #current: Connection | null = null;
  #running: Promise<void> | null = null;
  #problem: string | null = null;
  readonly #stopped = new AbortController();
  readonly #waiting = new Set<() => void>();
  #endPause: () => void = () => undefined;

  constructor(private readonly parts: KeptParts) {}

  get isUp(): boolean {
    return this.#live() !== null;
  }

  /** Why there is no connection, for the operator; null when there is one. */
  get problem(): string | null {
    return this.isUp ? null : (this.#problem ?? 'not connected yet');
  }

  start(): void {
    this.#running ??= this.#keep();
  }

  /** Returns the connection, or waits for it for at most `graceMs`. @throws McpFailure `unreachable` */
  async acquire(signal: AbortSignal): Promise<Connection> {
    const connection = this.#live();
    if (connection !== null) return connection;
    this.#endPause();
    let wake: () => void = () => undefined;
    let timer: NodeJS.Timeout | undefined;
    try {
      const change = new Promise<void>((resolve) => {
        wake = resolve;
        this.#waiting.add(wake);
        timer = setTimeout(resolve, this.parts.timing.graceMs);
      });
      await untilAborted(change, signal);
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(wake);
    }
    // The connection may have come up and ended again; then this call fails and the next one tries again.
    const came = this.#live();
    if (came !== null) return came;
    throw new McpFailure('unreachable', `The tool server ${this.parts.server} is down at the moment.`);
  }

  /** Closes the connection and stops reconnecting. */
  async close(): Promise<void> {
    this.#stopped.abort(new Error('The service is shutting down.'));
    this.#endPause();
    this.#wake();
    await this.#running;
  }

  #isStopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  #live(): Connection | null {
    return this.#current?.isOpen === true ? this.#current : null;
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }

  async #keep(): Promise<void> {
    const { log, server, timing } = this.parts;
    let failures = 0;
    while (!this.#isStopped()) {
      let livedMs = 0;
      try {
        livedMs = await this.#attempt();
        if (this.#isStopped()) break;
        log.warn({ server }, 'tool server: connection ended');
        this.#problem = 'The connection ended.';
      } catch (error) {
        if (this.#isStopped()) break;
        const problem = error instanceof Error ? error.message : String(error);
        // Log only the first failure in a row.
        if (failures === 0) log.warn({ err: error, server, problem }, 'tool server: failed to connect');
        this.#problem = problem;
        this.parts.onAttempt(error instanceof Error ? error : new Error(String(error)));
        this.#wake();
      }
      failures = livedMs >= timing.steadyMs ? 1 : failures + 1;
      await this.#pause(pauseAfter(failures, timing));
    }
  }

  /** Connects and waits until the connection ends. @returns how long it lasted, in milliseconds */
  async #attempt(): Promise<number> {
    const connection = await this.parts.open(this.#stopped.signal);
    const onStop = (): void => {
      // The `close` below reports the same failure.
      connection.close().catch(() => undefined);
    };
    this.#stopped.signal.addEventListener('abort', onStop, { once: true });
    const since = performance.now();
    try {
      if (this.#isStopped()) return 0;
      this.#current = connection;
      this.parts.log.info({ server: this.parts.server }, 'tool server: connected');
      this.parts.onAttempt(null);
      this.#wake();
      await connection.ended;
      return performance.now() - since;
    } finally {
      this.#current = null;
      this.#stopped.signal.removeEventListener('abort', onStop);
      await connection.close();
    }
  }

  /** Waits until the time is over, a call needs the connection, or `close` is called. */
  async #pause(milliseconds: number): Promise<void> {
    if (this.#isStopped()) return;
    const from = performance.now();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#endPause = () => {
        // Frequent calls must not restart a failing server in a tight loop.
        const isEarly = performance.now() - from < this.parts.timing.firstRetryMs;
        if (isEarly && !this.#isStopped()) return;
        clearTimeout(timer);
        resolve();
      };
    });
    this.#endPause = () => undefined;
  }
}
