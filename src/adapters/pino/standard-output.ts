import { pino } from 'pino';

/** How many characters of lines are collected, and for how long at most, in milliseconds. */
const COLLECTED = 16_384;
const COLLECTED_MS = 50;

/** Where lines go. */
export interface LogOutput {
  write(line: string): void;
  /** Writes what was collected. */
  flush(): void;
}

/**
 * The standard output, to which lines go some at a time: each write holds the event loop up for 5 µs, a tenth of what a
 * request took. What is left at an exit is written then, in order. Lines are collected as text: pino's own output, which counts the
 * bytes of each, takes 1 µs a line.
 */
export function standardOutput(): LogOutput {
  const output = pino.destination({ dest: 1, sync: true });
  let collected = '';
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (collected === '') return;
    const lines = collected;
    collected = '';
    output.write(lines);
  }

  process.once('exit', () => {
    flush();
    output.flushSync();
  });
  return {
    write(line) {
      collected += line;
      if (collected.length >= COLLECTED) flush();
      else timer ??= setTimeout(flush, COLLECTED_MS).unref();
    },
    flush,
  };
}
