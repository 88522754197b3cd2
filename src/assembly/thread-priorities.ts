/**
 * The engine's own threads (they collect garbage and compile) give way to the event loop where they share a core. Linux leaves a core to the thread
 * that has it for some 3 ms, even when the event loop wakes for a token meanwhile, unless that thread is the less important one; and while
 * four of them mark a heap side by side, each takes its share. Measured on one core with 256 streams at the pace of a model: with a step of 10, by
 * which the thread that writes to SQLite gives way too (`adapters/sqlite/worker.ts`), the p99 of a token's latency fell by half, and with
 * the lowest priority by another third. With a core to spare it changes nothing. The threads that look up names are among them:
 * of a core that the event loop would take whole, each has a sixtieth.
 */
import { readdirSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/** Lowers all threads that there are, but that of the event loop: at the begin of a process, before anything has begun threads of its own. */
export function lowerEngineThreads(): void {
  // Elsewhere the number of a thread would be taken for that of a process.
  if (process.platform !== 'linux') return;
  for (const thread of threads()) {
    if (thread === process.pid) continue;
    try {
      setPriority(thread, constants.priority.PRIORITY_LOW);
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
