import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { buildCheckout, exitOnSignals } from '../support/server-process.js';

/** The result of one run of a program, as `--json FILE` writes it. */
export const Outcome = z.object({
  seed: z.string(),
  /** What was done, by name. */
  counts: z.record(z.string(), z.number()),
  /** How many things happened that must not happen. */
  faults: z.number(),
  /** Milliseconds, by name: `p50`, `p99`. */
  latencies: z.record(z.string(), z.number()).optional(),
});
export type Outcome = z.infer<typeof Outcome>;

/** What a program is asked to do, and where it notes what it finds. */
export interface Run {
  readonly count: number;
  readonly seed: string;
  /** A folder for data and logs. Removed after a run without faults. */
  readonly directory: string;
  /** Notes something that must not happen. */
  fault(detail: string): void;
}

/** Faults that are printed in full. */
const SHOWN = 20;

/**
 * Runs a program of the proof with its options from the command line, and exits: with 0 without faults, with 1
 * otherwise.
 * @param about what it counts, for `--help`
 * @param count how many without `--count`
 */
export async function runProgram(
  { about, count }: { readonly about: string; readonly count: number },
  work: (run: Run) => Promise<Omit<Outcome, 'seed' | 'faults'>>,
): Promise<never> {
  const { values } = parseArgs({
    options: {
      count: { type: 'string', default: String(count) },
      seed: { type: 'string', default: randomUUID().slice(0, 8) },
      json: { type: 'string' },
      'no-build': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(
      `${about}\n\n  [--count ${String(count)}] [--seed WORD] [--json FILE] [--no-build]\n`,
    );
    process.exit(0);
  }
  exitOnSignals();
  if (!values['no-build']) await buildCheckout();
  const { seed, json } = values;
  const directory = mkdtempSync(join(tmpdir(), 'diptych-proof-'));
  let faults = 0;
  const fault = (detail: string): void => {
    faults++;
    if (faults <= SHOWN) process.stdout.write(`FAULT: ${detail}\n`);
  };
  const done = await work({ count: Number(values.count), seed, directory, fault });
  const outcome: Outcome = { seed, faults, ...done };
  if (json !== undefined) writeFileSync(json, JSON.stringify(outcome));
  const figures = { ...outcome.counts, ...outcome.latencies };
  for (const [name, value] of Object.entries(figures))
    process.stdout.write(`${String(value).padStart(10)}  ${name}\n`);
  process.stdout.write(
    `${faults === 0 ? 'passed' : `FAILED: ${String(faults)} faults, data in ${directory}`}, seed ${seed}\n`,
  );
  if (faults === 0) rmSync(directory, { recursive: true, force: true });
  process.exit(faults === 0 ? 0 : 1);
}

/** Runs `work` for each number below `count`, `width` at a time. */
export async function inParallel(
  count: number,
  width: number,
  work: (n: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, worker));
}

/** The value below which a share of all values lies, rounded to hundredths. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return (
    Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN) * 100) / 100
  );
}
