import { median } from './machine.js';
import { Load, type Target, type Work } from './load/measure.js';
import type { Server } from './servers.js';

/** How long and how often is measured. */
export interface Pace {
  readonly rounds: number;
  /** Before the first round, in CPU seconds of the server, which compiles meanwhile. */
  readonly warm: number;
  /** Each round, in CPU seconds; where the clock counts, in seconds. */
  readonly seconds: number;
  /** Only what has bounds, and less of it. */
  readonly isQuick: boolean;
}

export interface Context {
  readonly pace: Pace;
  readonly upstream: Server;
  /** `http://127.0.0.1:PORT` of the upstream. */
  readonly upstreamUrl: string;
  /** Tells what is going on. */
  say(text: string): void;
}

/** What one line of the table says. */
export interface Outcome {
  readonly row: string;
  /** What the product did, and what it is compared with; absent where the bound is a plain number. */
  readonly product: number;
  readonly against?: number;
  readonly unit: string;
  /** What is held against the bounds. */
  readonly got: number;
  /** Absent: the line is there to be known, and bound by nothing. */
  readonly required?: number;
  readonly aim?: number;
  /** Whether a larger `got` is better. */
  readonly better: 'more' | 'less';
  /** Every round: the product's figure, and the other's. */
  readonly rounds: readonly (readonly number[])[];
}

/** One measurement: by its id it can be asked for alone. */
export interface Row {
  readonly id: string;
  run(context: Context): Promise<readonly Outcome[]>;
}

/** One side of a comparison. */
export interface Side {
  readonly target: Target;
  readonly work: Work;
}

/** Loads both sides in turn, round by round, so that whatever else the machine does meets both. Work for each CPU second. */
export async function compare(
  { pace }: Context,
  sides: { readonly product: Side; readonly against: Side; readonly workers: number },
): Promise<{ product: number; against: number; rounds: number[][] }> {
  const { product, against, workers } = sides;
  const rounds: number[][] = [];
  for (const { target, work } of [product, against]) await count({ target, work }, workers, pace.warm);
  for (let round = 0; round < pace.rounds; round++) {
    const pair: number[] = [];
    for (const side of [product, against]) pair.push(await count(side, workers, pace.seconds));
    rounds.push(pair);
  }
  return { ...medians(rounds), rounds };
}

async function count({ target, work }: Side, workers: number, seconds: number): Promise<number> {
  const load = await Load.start(target, workers, work, { awake: true });
  const { perCpuSecond } = await load.count(seconds);
  await load.stop();
  return perCpuSecond;
}

/** The medians of the first and the second figure of each round. */
export function medians(rounds: readonly (readonly number[])[]): { product: number; against: number } {
  const at = (index: number): number => median(rounds.map((round) => round[index] ?? NaN));
  return { product: at(0), against: at(1) };
}
