import { writeSync } from 'node:fs';
import { codeOf } from '../../platform/node/error-code.js';
import { isoTime } from './plain-line.js';

/** Limits of the buffer, in characters and milliseconds. Writes are batched because each one blocks the event loop. */
const BUFFERED = 16_384;
const BUFFERED_MS = 50;

/** Pause before another attempt when a non-blocking descriptor is full, in milliseconds. */
const BUSY_MS = 10;

const LINE_END = 0x0a;

export interface LogOutput {
  write(line: string): void;
  /** Writes the buffered lines. */
  flush(): void;
}

/** Writes bytes to a file descriptor, and returns how many were written, as `writeSync` does. */
type WriteBytes = (descriptor: number, bytes: Uint8Array) => number;

/**
 * Creates a buffered writer to standard output. Flushes when the process exits. Lines that cannot be written, for
 * example because the disk is full, are lost; the next line that can be written follows one with their number.
 * @param descriptor the file descriptor to write to
 */
export function standardOutput(descriptor = 1, write: WriteBytes = writeSync): LogOutput {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  let waiting = '';
  let timer: NodeJS.Timeout | undefined;
  let lost = 0;
  /** True when the last byte that was written does not end a line. */
  let isLineOpen = false;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (waiting === '') return;
    const lines = Buffer.from(waiting);
    waiting = '';
    if (lost > 0) {
      const rest = put(Buffer.from(`${isLineOpen ? '\n' : ''}${lostLine(lost)}`));
      if (rest.length > 0) {
        lost += countLines(lines);
        return;
      }
      lost = 0;
    }
    lost += countLines(put(lines));
  }

  /** Writes all bytes, and returns those that could not be written. Never throws. */
  function put(bytes: Buffer): Buffer {
    let rest = bytes;
    while (rest.length > 0) {
      try {
        const count = write(descriptor, rest);
        if (count > 0) isLineOpen = rest[count - 1] !== LINE_END;
        rest = rest.subarray(count);
      } catch (error) {
        if (!isBusy(error)) return rest;
        Atomics.wait(pause, 0, 0, BUSY_MS);
      }
    }
    return rest;
  }

  process.once('exit', flush);
  return {
    write(line) {
      waiting += line;
      if (waiting.length >= BUFFERED) flush();
      else timer ??= setTimeout(flush, BUFFERED_MS).unref();
    },
    flush,
  };
}

function lostLine(lines: number): string {
  return `{"level":"warn","time":"${isoTime(Date.now())}","lines":${String(lines)},"msg":"lost log lines"}\n`;
}

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(LINE_END); at !== -1; at = bytes.indexOf(LINE_END, at + 1)) lines++;
  return lines;
}

function isBusy(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'EAGAIN' || code === 'EBUSY';
}
