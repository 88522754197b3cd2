import { Worker } from 'node:worker_threads';
import { StoreUnavailableError } from '../../../../core/ports/store.js';
import type { Outcome } from './batch.js';
import type { WriterOptions } from '../connections.js';
import { toError } from '../failure.js';
import type { Reply, Request } from './messages.js';
import type { PostedCall, StepName, Steps } from '../steps.js';

/** How long a thread that died again stays down before the next is started; doubles up to the maximum. */
const RESTART_MS = 100;
const MAX_RESTART_MS = 5000;

/** Hooks into the life of the writing thread. They must not throw. */
export interface WriterHooks {
  /**
   * The log of the database was removed or replaced: every other connection of this process must be closed before this
   * returns.
   */
  onLogLost(reason: Error): void;
  /** The thread has opened the database again; other connections may be opened. */
  onReopened(): void;
}

/** Somebody who waits for a step. */
interface Waiter {
  resolve(value: Steps[StepName]['result']): void;
  reject(error: Error): void;
}

/**
 * The main thread's side of the writing thread. Steps of one turn of the event loop cross over together; each is
 * answered after its commit, in order. When the thread dies, all that it had been given fail, and another is started.
 */
export class Writer {
  /** What was expected in the database and is not there, in words for the operator. */
  missing: readonly string[] = [];
  readonly #url: URL;
  readonly #options: WriterOptions;
  readonly #hooks: WriterHooks;
  #worker: Worker | undefined;
  /** Not yet posted. Their waiters are the last ones of `#waiters`. */
  #calls: PostedCall[] = [];
  #waiters: Waiter[] = [];
  /** False until the first thread is ready: before that, what fails is the caller's to deal with. */
  #opened = false;
  /** The file that the first thread opened: a later one opens no other, and makes none. */
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

  /** Starts the thread, which opens the database. @throws StoreUnavailableError, or Error when the database is newer */
  static async open(url: URL, options: WriterOptions, hooks: WriterHooks): Promise<Writer> {
    const writer = new Writer(url, options, hooks);
    await writer.#start();
    writer.#opened = true;
    return writer;
  }

  /**
   * Runs a step; resolves once what it wrote is on the disk. @throws StoreUnavailableError: nothing is known to be
   * written
   */
  run<K extends StepName>(name: K, ...args: Steps[K]['args']): Promise<Steps[K]['result']> {
    if (this.#closing !== undefined) return Promise.reject(new StoreUnavailableError('the store is closed'));
    if (this.#worker === undefined) return Promise.reject(this.#down());
    return new Promise<Steps[K]['result']>((resolve, reject) => {
      if (this.#calls.length === 0) {
        // After every callback of this turn of the loop, so that what all its connections write shares a message and a
        // commit:
        // a message costs as much as three steps in it.
        setImmediate(() => {
          this.#flush();
        });
      }
      this.#calls.push({ name, args });
      this.#waiters.push({ resolve, reject });
    });
  }

  /** Waits for what was asked before, then closes the database. */
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
      this.#post(worker, { type: 'close' });
    });
  }

  #flush(): void {
    const calls = this.#calls;
    if (calls.length === 0 || this.#worker === undefined) return;
    this.#calls = [];
    try {
      this.#post(this.#worker, { type: 'run', calls });
    } catch (cause) {
      const error = new Error('a write cannot be handed to the writing thread', { cause });
      for (const waiter of this.#waiters.splice(-calls.length)) waiter.reject(error);
    }
  }

  #post(worker: Worker, request: Request<PostedCall>): void {
    worker.postMessage(request);
  }

  /** Resolves when the thread is ready. Later deaths of it are dealt with here too. */
  #start(): Promise<void> {
    const worker = new Worker(this.#url, {
      workerData: { ...this.#options, identity: this.#identity },
      // Not the process's own flags: some of them (`--input-type`) stop a thread from starting.
      execArgv: [],
    });
    this.#worker = worker;
    let cause: unknown;
    return new Promise((resolve, reject) => {
      worker.on('message', (reply: Reply) => {
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
            this.#post(worker, { type: 'close' });
            return;
          case 'refused':
            cause = toError(reply.failure);
            return;
          case 'outcomes':
            if (reply.outcomes.some((outcome) => 'value' in outcome)) this.#deaths = 0;
            this.#settle(reply.outcomes);
        }
      });
      worker.on('error', (error) => {
        cause = error;
      });
      worker.on('exit', (code) => {
        this.#worker = undefined;
        this.#downBecause = cause ?? new Error(`the writing thread ended with code ${String(code)}`);
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
      if ('value' in outcome) waiters[index]?.resolve(outcome.value);
      else waiters[index]?.reject(toError(outcome.failure));
    }
  }

  #down(): StoreUnavailableError {
    const options = { cause: this.#downBecause };
    return new StoreUnavailableError(
      'the writing thread of the database is down, and is being restarted',
      options,
    );
  }
}
