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
  /** What was found to be the cause of its faults, written by hand. */
  cause: z.string().optional(),
});
export type Entry = z.infer<typeof Entry>;

/** How many of something the runs did together. @param counted a name among their counts */
export function totalOf(runs: readonly Entry[], counted: string): number {
  return runs.reduce((sum, { counts }) => sum + (counts[counted] ?? 0), 0);
}

/** The runs of all rows so far, in a file that later runs continue. */
export class Journal {
  constructor(private readonly file: string) {}

  /** The runs of a row, oldest first. @throws when the file is no journal */
  of(row: string): readonly Entry[] {
    return this.#read().filter((entry) => entry.row === row);
  }

  /** Adds a run to what is in the file now: runs of other rows may go on beside this one. */
  add(entry: Entry): void {
    const lines = [...this.#read(), entry].map((each) => JSON.stringify(each));
    writeFileSync(this.file, `[\n${lines.join(',\n')}\n]\n`);
  }

  #read(): readonly Entry[] {
    return existsSync(this.file) ? z.array(Entry).parse(JSON.parse(readFileSync(this.file, 'utf8'))) : [];
  }
}
