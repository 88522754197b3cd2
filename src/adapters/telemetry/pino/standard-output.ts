import { pino } from 'pino';

/** Limits of the buffer, in characters and milliseconds. Writes are batched because each one blocks the event loop. */
const BUFFERED = 16_384;
const BUFFERED_MS = 50;

export interface LogOutput {
  write(line: string): void;
  /** Writes the buffered lines. */
  flush(): void;
}

/**
 * Creates a buffered writer to standard output. Flushes when the process exits.
 * @param descriptor the file descriptor to write to
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
