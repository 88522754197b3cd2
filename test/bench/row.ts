import { median } from './machine.js';
import { Load, type Done, type Target, type Work } from './load/measure.js';
import type { Server } from './servers.js';

/** How long and how often is measured. */
export interface Pace {
  readonly rounds: number;
  /** Before the first round, in CPU seconds of the server, which compiles its code in them. */
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

/** What is compared, and how. */
interface Sides {
  readonly product: Side;
  readonly against: Side;
  readonly workers: number;
  /**
   * Into how many a round is cut; absent: one. What a machine does to one side alone in a long slice is more than most
   * changes are worth; where work ends quickly, short ones cost nothing.
   */
  readonly slices?: number;
}

/**
 * Loads both sides in turn, slice by slice, so that whatever else the machine does meets both. Work for each CPU
 * second.
 */
export async function compare(
  { pace }: Context,
  { product, against, workers, slices = 1 }: Sides,
): Promise<{ product: number; against: number; rounds: number[][] }> {
  const sides = [product, against];
  const rounds: number[][] = [];
  for (const side of sides) await count(side, workers, pace.warm);
  for (let round = 0; round < pace.rounds; round++) {
    const sums = sides.map((side) => ({ side, units: 0, cpuSeconds: 0 }));
    for (let slice = 0; slice < slices; slice++) {
      for (const sum of sums) {
        const { units, cpuSeconds } = await count(sum.side, workers, pace.seconds / slices);
        sum.units += units;
        sum.cpuSeconds += cpuSeconds;
      }
    }
    rounds.push(sums.map(({ units, cpuSeconds }) => units / cpuSeconds));
  }
  return { ...medians(rounds), rounds };
}

async function count({ target, work }: Side, workers: number, seconds: number): Promise<Done> {
  const load = await Load.start(target, workers, work, { awake: true });
  const done = await load.count(seconds);
  await load.stop();
  return done;
}

/** The medians of the first and the second figure of each round. */
export function medians(rounds: readonly (readonly number[])[]): { product: number; against: number } {
  const at = (index: number): number => median(rounds.map((round) => round[index] ?? NaN));
  return { product: at(0), against: at(1) };
}
