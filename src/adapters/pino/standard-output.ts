import { pino } from 'pino';

/** How many bytes of lines are collected, and for how long at most, in milliseconds. */
const COLLECTED_BYTES = 4_096;
const COLLECTED_MS = 50;

/** Where lines go. */
export type LogOutput = ReturnType<typeof pino.destination>;

/**
 * The standard output, to which lines go some at a time: each write holds the event loop up for 5 µs, a tenth of what a
 * request took. What is left at an exit is written then, in order.
 */
export function standardOutput(): LogOutput {
  const output = pino.destination({
    dest: 1,
    sync: true,
    minLength: COLLECTED_BYTES,
    periodicFlush: COLLECTED_MS,
  });
  process.once('exit', () => {
    output.flushSync();
  });
  return output;
}
