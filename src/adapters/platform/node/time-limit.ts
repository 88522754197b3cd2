import { createContext, Script } from 'node:vm';
import { requireSpareDescriptors } from './spare-descriptors.js';

/** Work was stopped because it exceeded its time limit. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError';
}

/** Runs synchronous work with a time limit, which stops even a running regular expression. */
export interface TimeLimit {
  /**
   * @param work must be repeatable: it runs again after it was stopped for the first time, and with twice the time on
   * the clock after each attempt that used less CPU time than the limit
   * @throws TimeLimitError after two attempts with `milliseconds` of CPU time or more, and after seven times the limit
   * on the clock; RefusedError `unavailable` when the process has no spare file descriptors; or the error of `work`
   */
  run<T>(milliseconds: number, work: () => T): T;
}

/**
 * The watchdog opens four descriptors and aborts the process if it cannot. The margin is for other threads that open
 * some after the check.
 */
const WATCHDOG_DESCRIPTORS = 8;

/** Limit of attempts; the last one may take four times the limit on the clock. */
const MAX_TRIES = 3;

/**
 * Limit of attempts that use all their CPU time. One proves nothing: the time is that of the process, and includes what
 * the garbage collector has used during the attempt.
 */
const MAX_EXCEEDED = 2;

/**
 * Creates a time limit based on the watchdog of `node:vm`, which stops V8 from another thread. The context is not a
 * sandbox: `work` is trusted code with untrusted input.
 */
export function createTimeLimit(): TimeLimit {
  const box: { work: (() => void) | null } = { work: null };
  const context = createContext(box);
  const script = new Script('work()');
  return {
    run<T>(milliseconds: number, work: () => T): T {
      const results: T[] = [];
      const outer = box.work;
      box.work = () => {
        results.push(work());
      };
      let clock = milliseconds;
      let exceeded = 0;
      try {
        for (let tries = 1; results.length === 0; tries++) {
          requireSpareDescriptors(WATCHDOG_DESCRIPTORS);
          const before = process.cpuUsage();
          try {
            script.runInContext(context, { timeout: clock });
          } catch (error) {
            if (!isTimeout(error)) throw error;
            const { user, system } = process.cpuUsage(before);
            // The watchdog measures wall-clock time; the limit is on CPU time. Each attempt starts from the beginning,
            // so after one in which the machine gave too little CPU time, it needs more wall-clock time than the last.
            if ((user + system) / 1000 < milliseconds) clock *= 2;
            else exceeded += 1;
            if (tries < MAX_TRIES && exceeded < MAX_EXCEEDED) continue;
            throw new TimeLimitError(`took longer than ${milliseconds.toString()} ms`, { cause: error });
          }
        }
      } finally {
        box.work = outer;
      }
      for (const result of results) return result;
      throw new Error('the work neither returned nor threw');
    },
  };
}

function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
