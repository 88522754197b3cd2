import { constants, getPriority, setPriority } from 'node:os';

/**
 * In steps of `nice`: such a thread still has a tenth of a core that the event loop would take whole. With the lowest priority of all the pauses are shorter
 * still, but then nobody compiles what is hot while the core is busy: a turn took a quarter more.
 */
const NICER_BY = 10;

/** The thread that asks, as setpriority(2) of Linux numbers it. */
export const THIS_THREAD = 0;

/** Makes a thread of this process less important than the one that asks is now. On Linux alone: elsewhere the number would be taken for that of a process. */
export function lowerThread(thread: number): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(thread, Math.min(getPriority() + NICER_BY, constants.priority.PRIORITY_LOW));
  } catch {
    // It has ended, or it may not be changed here.
  }
}
