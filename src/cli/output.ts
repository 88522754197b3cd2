import { fstatSync, writeSync } from 'node:fs';
import { Writable } from 'node:stream';
import { getSystemErrorMap } from 'node:util';
import type { Terminal } from './terminal.js';

/**
 * Opens stdout for a command, which continues when its output is lost. A closed pipe (`| head`) is not a failure: what
 * the command prints after that is dropped.
 * @param onFailure called once with one line for the user when the output cannot be written for another reason
 */
export function openOutput(onFailure: (message: string) => void): Terminal['output'] {
  const output = isFile(process.stdout.fd) ? fileOutput(process.stdout.fd) : process.stdout;
  let hasFailed = false;
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || hasFailed) return;
    hasFailed = true;
    const [, reason] = getSystemErrorMap().get(error.errno ?? 0) ?? [];
    onFailure(`cannot write the output: ${reason ?? error.message}`);
  });
  return output;
}

function isFile(descriptor: number): boolean {
  try {
    // With numbers, Node 20 resolves no symbolic links of modules any more once this has found a pipe: its
    // `realpathSync` looks at the result of the last call.
    return fstatSync(descriptor, { bigint: true }).isFile();
  } catch {
    return false;
  }
}

/** Writes all of each chunk. The `process.stdout` of a file drops what did not fit on the disk, without an error. */
function fileOutput(descriptor: number): Writable {
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      try {
        for (let written = 0; written < chunk.length;) written += writeSync(descriptor, chunk, written);
        done();
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
  });
}
