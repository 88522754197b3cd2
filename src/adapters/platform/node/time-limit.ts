import { createContext, Script } from 'node:vm';
import { requireSpareDescriptors } from './spare-descriptors.js';

/** Work was stopped because it took too long. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError';
}

/** Runs synchronous work and stops it when it takes longer, even in the midst of a regular expression. */
export interface TimeLimit {
  /**
   * @param work may be begun again: what was stopped because the machine had no time for this process is no fault of it
   * @throws TimeLimitError after about `milliseconds` of computing, RefusedError `unavailable` without descriptors, or
   * whatever `work` throws
   */
  run<T>(milliseconds: number, work: () => T): T;
}

/**
 * The watchdog opens four descriptors, and aborts the process when it cannot. Other threads may take some in between.
 */
const WATCHDOG_DESCRIPTORS = 8;

/** How often work is begun at most. */
const MAX_TRIES = 5;

/**
 * A time limit by the watchdog of `node:vm`, which can stop V8 from another thread; about 0.07 ms a run. The context is
 * no sandbox and is not meant as one: `work` is our own code, only its input is not trusted.
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
      const before = process.cpuUsage();
      try {
        for (let tries = 1; results.length === 0; tries++) {
          requireSpareDescriptors(WATCHDOG_DESCRIPTORS);
          try {
            script.runInContext(context, { timeout: milliseconds });
          } catch (error) {
            if (!isTimeout(error)) throw error;
            // The watchdog goes by the clock on the wall.
            const { user, system } = process.cpuUsage(before);
            if (tries < MAX_TRIES && (user + system) / 1000 < milliseconds) continue;
            throw new TimeLimitError(`took longer than ${milliseconds.toString()} ms`, { cause: error });
          }
        }
      } finally {
        box.work = outer;
      }
      for (const result of results) return result;
      throw new Error('The work neither returned nor threw.');
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
