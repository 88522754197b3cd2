/**
 * Log lines go out some at a time. Measured: each write holds the event loop up for 5 µs, a tenth of what a request
 * took. They are collected as text, for pino's own output counts the bytes of each, which takes 1 µs a line.
 */
import { pino } from 'pino';

/** How many characters of lines are collected, and for how long at most, in milliseconds. */
const COLLECTED = 16_384;
const COLLECTED_MS = 50;

declare module 'sonic-boom' {
  interface SonicBoom {
    /** In the mode `buffer`. */
    write(bytes: Buffer): boolean;
  }
}

/** Where lines go. */
export interface LogOutput {
  /** @param isAscii it surely is: lines that all are need not be measured before they are written */
  write(line: string, isAscii?: boolean): void;
  /** Writes what was collected. */
  flush(): void;
}

/**
 * The standard output, to which lines go some at a time. What is left at an exit is written then, in order.
 * @param descriptor of the file that stands for it
 */
export function standardOutput(descriptor = 1): LogOutput {
  const output = pino.destination({ dest: descriptor, sync: true, contentMode: 'buffer' });
  let collected = '';
  let encoding: 'ascii' | 'utf8' = 'ascii';
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (collected === '') return;
    const lines = Buffer.from(collected, encoding);
    collected = '';
    encoding = 'ascii';
    output.write(lines);
  }

  process.once('exit', () => {
    flush();
    output.flushSync();
  });
  return {
    write(line, isAscii = false) {
      collected += line;
      if (!isAscii) encoding = 'utf8';
      if (collected.length >= COLLECTED) flush();
      else timer ??= setTimeout(flush, COLLECTED_MS).unref();
    },
    flush,
  };
}
