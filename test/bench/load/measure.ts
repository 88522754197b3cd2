import { cpuSeconds, sleep } from '../machine.js';
import { Lane } from './lane.js';

/** A server under load. */
export interface Target {
  readonly pid: number;
  readonly port: number;
}

/** What a worker does again and again on its connection. It counts the units of work that it has done as it does them. */
export type Work = (lane: Lane, worker: number, count: (units: number) => void) => Promise<void>;

/** What was done in a stretch of time. */
export interface Done {
  readonly units: number;
  readonly cpuSeconds: number;
  readonly seconds: number;
  /** Units of work for each second of CPU time of the server. */
  readonly perCpuSecond: number;
}

/** A load of so many workers, each with a connection of its own, that goes on until it is stopped. */
export class Load {
  units = 0;
  #isStopped = false;
  readonly #workers: Promise<void>[] = [];

  private constructor(private readonly target: Target) {}

  static async start(target: Target, workers: number, work: Work): Promise<Load> {
    const load = new Load(target);
    const lanes = await Promise.all(Array.from({ length: workers }, () => Lane.open(target.port)));
    for (const [index, lane] of lanes.entries()) load.#workers.push(load.#run(lane, index, work));
    return load;
  }

  /** Counts what is done in so many seconds. */
  async count(seconds: number): Promise<Done> {
    const [units, cpu, at] = [this.units, cpuSeconds(this.target.pid), performance.now()];
    await Promise.race([sleep(seconds * 1000), Promise.all(this.#workers)]);
    const done = this.units - units;
    const used = cpuSeconds(this.target.pid) - cpu;
    return { units: done, cpuSeconds: used, seconds: (performance.now() - at) / 1000, perCpuSecond: done / used };
  }

  /** Lets every worker finish what it is at. @throws what a worker threw */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#workers);
  }

  async #run(lane: Lane, index: number, work: Work): Promise<void> {
    const count = (units: number): void => {
      this.units += units;
    };
    try {
      while (!this.#isStopped) await work(lane, index, count);
    } finally {
      lane.close();
    }
  }
}

/** Loads a server for so many seconds, after a stretch that is not counted. */
export async function measure(
  target: Target,
  { workers, warm, seconds, work }: { workers: number; warm: number; seconds: number; work: Work },
): Promise<Done> {
  const load = await Load.start(target, workers, work);
  if (warm > 0) await load.count(warm);
  const done = await load.count(seconds);
  await load.stop();
  return done;
}
