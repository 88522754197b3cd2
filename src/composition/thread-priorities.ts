/**
 * The engine's own threads (they collect garbage and compile) give way to the event loop where they share a core. Linux leaves a core to the thread
 * that has it for some 3 ms, even when the event loop wakes for a token meanwhile, unless that thread is the less important one. Measured on one
 * core with 64 streams at the pace of a model, together with the thread that writes to SQLite (`adapters/stores/sqlite/worker.ts`): the p99 of a token's
 * latency fell from 9 ms to 4. With a core to spare it changes nothing.
 */
import { readdirSync } from 'node:fs';
import { lowerThread } from '../adapters/platform/node/thread-priority.js';

/** Lowers all threads that there are, but that of the event loop: once the service has started, which takes longer without their help. */
export function lowerEngineThreads(): void {
  for (const thread of threads()) if (thread !== process.pid) lowerThread(thread);
}

/** Their numbers; none where the system does not tell. */
function threads(): readonly number[] {
  try {
    return readdirSync('/proc/self/task').map(Number);
  } catch {
    return [];
  }
}
