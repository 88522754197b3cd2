import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { Outcome } from './outcome.js';

/** One run of a row. */
export const Entry = Outcome.extend({
  row: z.string(),
  /** When it began, ISO 8601. */
  at: z.iso.datetime(),
  /** How long it took, in seconds. */
  seconds: z.number(),
  /** The commit that was run, and the version of Node. */
  commit: z.string(),
  node: z.string(),
});
export type Entry = z.infer<typeof Entry>;

/** The runs of all rows so far, in a file that later runs continue. */
export class Journal {
  readonly #entries: Entry[];

  /** @throws when the file is no journal */
  constructor(private readonly file: string) {
    this.#entries = existsSync(file) ? z.array(Entry).parse(JSON.parse(readFileSync(file, 'utf8'))) : [];
  }

  /** The runs of a row, oldest first. */
  of(row: string): readonly Entry[] {
    return this.#entries.filter((entry) => entry.row === row);
  }

  /** Adds a run, and stores the journal. */
  add(entry: Entry): void {
    this.#entries.push(entry);
    const lines = this.#entries.map((each) => JSON.stringify(each));
    writeFileSync(this.file, `[\n${lines.join(',\n')}\n]\n`);
  }
}
