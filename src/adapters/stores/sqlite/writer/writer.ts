import { Worker } from 'node:worker_threads';
import { StoreUnavailableError } from '../../../../core/ports/store.js';
import type { Outcome } from './batch.js';
import type { WriterOptions } from '../connections.js';
import { toError } from '../failure.js';
import { parseReply, postRequest } from './messages.js';
import type { PostedCall, StepName, Steps } from '../steps.js';

/** Backoff before the writer thread is restarted after repeated deaths, in milliseconds; doubles up to the maximum. */
const RESTART_MS = 100;
const MAX_RESTART_MS = 5000;

/** Callbacks on the state of the writer thread. They must not throw. */
export interface WriterHooks {
  /**
   * The log of the database was removed or replaced. The callback must close every other connection of this process
   * before it returns.
   */
  onLogLost(reason: Error): void;
  /** The writer thread has reopened the database; other connections may be opened again. */
  onReopened(): void;
}

/** Settles the promise of a pending step. */
interface Waiter {
  resolve(value: Steps[StepName]['result']): void;
  reject(error: Error): void;
}

/**
 * Runs steps on the writer thread. The steps of one event loop iteration are posted as one message, and each resolves
 * after its commit, in order. When the thread dies, all pending steps fail and a new thread is started.
 */
export class Writer {
  /** Data that was found missing when the database was opened, as messages for the operator. */
  missing: readonly string[] = [];
  readonly #url: URL;
  readonly #options: WriterOptions;
  readonly #hooks: WriterHooks;
  #worker: Worker | undefined;
  /** Calls that are not posted yet. Their waiters are the last ones in `#waiters`. */
  #calls: PostedCall[] = [];
  #waiters: Waiter[] = [];
  /** True after the first thread was ready. Before that, `open` rejects instead of restarting the thread. */
  #opened = false;
  /** Identity of the database file that was opened first: a restarted thread must not open or create another one. */
  #identity: string | undefined;
  #deaths = 0;
  #downBecause: unknown = undefined;
  #timer: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  private constructor(url: URL, options: WriterOptions, hooks: WriterHooks) {
    this.#url = url;
    this.#options = options;
    this.#hooks = hooks;
  }

  /**
   * Starts the thread, which opens the database.
   * @throws StoreUnavailableError when the database cannot be opened
   * @throws SchemaVersionError when its schema is newer, or older and must not be migrated
   */
  static async open(url: URL, options: WriterOptions, hooks: WriterHooks): Promise<Writer> {
    const writer = new Writer(url, options, hooks);
    await writer.#start();
    writer.#opened = true;
    return writer;
  }

  /**
   * Runs a step. Resolves when its writes are on disk.
   * @throws StoreUnavailableError when the step is not confirmed; it may still have been written
   */
  run<K extends StepName>(name: K, ...args: Steps[K]['args']): Promise<Steps[K]['result']> {
    if (this.#closing !== undefined) return Promise.reject(new StoreUnavailableError('the store is closed'));
    if (this.#worker === undefined) return Promise.reject(this.#down());
    return new Promise<Steps[K]['result']>((resolve, reject) => {
      if (this.#calls.length === 0) {
        // Posts after all callbacks of this event loop iteration, so that their steps share one message and one commit.
        setImmediate(() => {
          this.#flush();
        });
      }
      this.#calls.push({ name, args });
      this.#waiters.push({ resolve, reject });
    });
  }

  /** Waits for all pending steps, then closes the database. */
  close(): Promise<void> {
    this.#closing ??= this.#stop();
    return this.#closing;
  }

  async #stop(): Promise<void> {
    clearTimeout(this.#timer);
    const worker = this.#worker;
    if (worker === undefined) return;
    this.#flush();
    await new Promise((resolve) => {
      worker.once('exit', resolve);
      postRequest(worker, { type: 'close' });
    });
  }

  #flush(): void {
    const calls = this.#calls;
    if (calls.length === 0 || this.#worker === undefined) return;
    this.#calls = [];
    try {
      postRequest(this.#worker, { type: 'run', calls });
    } catch (cause) {
      const error = new Error('failed to post a write to the writer thread', { cause });
      for (const waiter of this.#waiters.splice(-calls.length)) waiter.reject(error);
    }
  }

  /** Starts a thread and resolves when it is ready. Also handles its later messages and its death. */
  #start(): Promise<void> {
    const worker = new Worker(this.#url, {
      workerData: { ...this.#options, identity: this.#identity },
      // Does not inherit the process's flags: some of them, such as `--input-type`, prevent a thread from starting.
      execArgv: [],
    });
    this.#worker = worker;
    let cause: unknown;
    return new Promise((resolve, reject) => {
      worker.on('message', (message: unknown) => {
        const reply = parseReply(message);
        switch (reply.type) {
          case 'ready':
            this.#identity = reply.identity;
            if (!this.#opened) this.missing = reply.missing;
            if (this.#opened) this.#hooks.onReopened();
            resolve();
            return;
          case 'log_lost':
            cause = toError(reply.failure);
            this.#hooks.onLogLost(toError(reply.failure));
            postRequest(worker, { type: 'close' });
            return;
          case 'refused':
            cause = toError(reply.failure);
            return;
          case 'outcomes':
            if (reply.outcomes.some((outcome) => !('failure' in outcome))) this.#deaths = 0;
            this.#settle(reply.outcomes);
        }
      });
      worker.on('error', (error) => {
        cause = error;
      });
      worker.on('exit', (code) => {
        this.#worker = undefined;
        this.#downBecause = cause ?? new Error(`the writer thread exited with code ${String(code)}`);
        const error = cause instanceof StoreUnavailableError ? cause : this.#down();
        this.#calls = [];
        for (const waiter of this.#waiters.splice(0)) waiter.reject(error);
        reject(cause instanceof Error ? cause : error);
        if (this.#opened && this.#closing === undefined) this.#restart();
      });
    });
  }

  #restart(): void {
    const wait = this.#deaths === 0 ? 0 : Math.min(RESTART_MS * 2 ** (this.#deaths - 1), MAX_RESTART_MS);
    this.#deaths += 1;
    this.#timer = setTimeout(() => {
      this.#start().catch((error: unknown) => {
        this.#downBecause = error;
      });
    }, wait);
  }

  #settle(outcomes: readonly Outcome[]): void {
    const waiters = this.#waiters.splice(0, outcomes.length);
    for (const [index, outcome] of outcomes.entries()) {
      if ('failure' in outcome) waiters[index]?.reject(toError(outcome.failure));
      else waiters[index]?.resolve(outcome.value);
    }
  }

  #down(): StoreUnavailableError {
    const options = { cause: this.#downBecause };
    return new StoreUnavailableError(
      'the writer thread of the database is down and is being restarted',
      options,
    );
  }
}
