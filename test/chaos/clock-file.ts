import { renameSync, writeFileSync } from 'node:fs';

/** A file from which processes take how far their clock is off. */
export class ClockFile {
  #offsetSeconds = 0;

  /** @param spell how the readers of the file write an offset in seconds */
  constructor(
    readonly path: string,
    private readonly spell: (seconds: number) => string,
  ) {
    this.set(0);
  }

  get offsetSeconds(): number {
    return this.#offsetSeconds;
  }

  /** Steps the clock to so many seconds before or behind the true time. */
  set(seconds: number): void {
    this.#offsetSeconds = seconds;
    // A reader never finds it half written.
    writeFileSync(`${this.path}.new`, this.spell(seconds), { mode: 0o644 });
    renameSync(`${this.path}.new`, this.path);
  }
}
