/**
 * The engine's own threads (they collect garbage and compile) give way to the event loop where they share a core. Linux leaves a core to the thread
 * that has it for some 3 ms, even when the event loop wakes for a token meanwhile, unless that thread is the less important one. Measured on one
 * core with 64 streams at the pace of a model, together with the thread that writes to SQLite (`adapters/sqlite/worker.ts`): the p99 of a token's
 * latency fell from 9 ms to 4. With a core to spare it changes nothing.
 */
import { readdirSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';

/**
 * In steps of `nice`: such a thread still has a tenth of a core that the event loop would take whole. With the lowest priority of all the pauses are shorter
 * still, but then nobody compiles what is hot while the core is busy: a turn took a quarter more.
 */
const NICER_BY = 10;

/** Lowers all threads that there are, but that of the event loop: once the service has started, which takes longer without their help. */
export function lowerEngineThreads(): void {
  // Elsewhere the number of a thread would be taken for that of a process.
  if (process.platform !== 'linux') return;
  const nice = Math.min(getPriority() + NICER_BY, constants.priority.PRIORITY_LOW);
  for (const thread of threads()) {
    if (thread === process.pid) continue;
    try {
      setPriority(thread, nice);
    } catch {
      // It has ended, or it may not be changed here.
    }
  }
}

function threads(): readonly number[] {
  try {
    return readdirSync('/proc/self/task').map(Number);
  } catch {
    return [];
  }
}
