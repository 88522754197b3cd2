import { pino } from 'pino';

/** The most characters of lines that wait, and for how long, in milliseconds: each write holds up the event loop. */
const BUFFERED = 16_384;
const BUFFERED_MS = 50;

/** Where lines go. */
export interface LogOutput {
  write(line: string): void;
  /** Writes the lines that wait. */
  flush(): void;
}

/**
 * The standard output, to which lines go in batches. Lines that wait at an exit are written then, in order.
 * @param descriptor of the file that stands for it
 */
export function standardOutput(descriptor = 1): LogOutput {
  const output = pino.destination({ dest: descriptor, sync: true });
  let waiting = '';
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (waiting === '') return;
    const lines = waiting;
    waiting = '';
    output.write(lines);
  }

  process.once('exit', () => {
    flush();
    output.flushSync();
  });
  return {
    write(line) {
      waiting += line;
      if (waiting.length >= BUFFERED) flush();
      else timer ??= setTimeout(flush, BUFFERED_MS).unref();
    },
    flush,
  };
}
