import { closeSync, openSync, writeSync } from 'node:fs';

/**
 * A file from which processes take how far their clock is off: one little-endian int64, in seconds. Readers are
 * shifted-clock.mjs, in the services, and shifted-clock.c, in PostgreSQL.
 */
export class ClockFile {
  #offsetSeconds = 0;

  constructor(readonly path: string) {
    closeSync(openSync(path, 'w', 0o644));
    this.set(0);
  }

  get offsetSeconds(): number {
    return this.#offsetSeconds;
  }

  /** Steps the clock to so many seconds before or behind the true time. */
  set(seconds: number): void {
    this.#offsetSeconds = seconds;
    const offset = Buffer.alloc(8);
    offset.writeBigInt64LE(BigInt(seconds));
    // In place, because PostgreSQL has the file mapped; eight bytes at once, so that no reader finds it half written.
    const file = openSync(this.path, 'r+');
    try {
      writeSync(file, offset, 0, offset.length, 0);
    } finally {
      closeSync(file);
    }
  }
}
