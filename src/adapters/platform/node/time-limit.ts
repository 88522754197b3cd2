import { createContext, Script } from 'node:vm';
import { codeOf } from './error-code.js';
import { requireSpareDescriptors } from './spare-descriptors.js';

/** Work was stopped because it exceeded its time limit. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError';
}

/** Runs synchronous work with a time limit, which stops even a running regular expression. */
export interface TimeLimit {
  /**
   * @param milliseconds limit of CPU time
   * @param work must be repeatable: a stopped attempt is repeated from the beginning. After an attempt that used less
   * CPU time than the limit, the next one gets twice the wall-clock time
   * @throws TimeLimitError after two attempts that used the CPU time, or after three attempts
   * @throws RefusedError `unavailable` when the process has no spare file descriptors
   * @throws the error of `work`
   */
  run<T>(milliseconds: number, work: () => T): T;
}

/**
 * The watchdog opens four descriptors and aborts the process if it cannot. The margin is for other threads that open
 * some after the check.
 */
const WATCHDOG_DESCRIPTORS = 8;

/** Limit of attempts; the last one may take four times the limit in wall-clock time. */
const MAX_TRIES = 3;

/**
 * Limit of attempts that use all their CPU time. One such attempt proves nothing: the CPU time is that of the whole
 * process, and includes the garbage collector's.
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
            // The watchdog measures wall-clock time, but the limit is on CPU time. After an attempt that got too little
            // CPU time, the next one needs more wall-clock time, because it starts from the beginning.
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
  return codeOf(error) === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
