import { cpuSeconds, sleep } from '../machine.js';
import { openLanes, type Asker, type Spread } from './lane.js';

/** A server under load. */
export interface Target {
  readonly pid: number;
  readonly port: number;
  /** The ports of all nodes, if there are several. */
  readonly ports?: readonly number[];
  /** How requests are spread over them; absent: each goes to the next one. */
  readonly spread?: Spread;
  /** The CPU time of everything that takes part, in seconds; absent: that of the process alone. */
  readonly cpuSeconds?: () => number;
}

/** How often the CPU time of the server is looked at. */
const LOOK_MS = 25;

/**
 * What a worker does again and again on its connection. It counts the units of work that it has done as it does them.
 */
export type Work = (lane: Asker, worker: number, count: (units: number) => void) => Promise<void>;

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
  #awake: { readonly stop: () => void } | undefined;
  readonly #workers: Promise<void>[] = [];

  private constructor(private readonly target: Target) {}

  /** @param options `awake`: this process does not sleep under the load, which leaves less to others on its core */
  static async start(
    target: Target,
    workers: number,
    work: Work,
    { awake = false }: { readonly awake?: boolean } = {},
  ): Promise<Load> {
    const load = new Load(target);
    const ports = target.ports ?? [target.port];
    const { spread = 'next' } = target;
    const lanes = await Promise.all(
      Array.from({ length: workers }, (_, first) => openLanes(ports, first, spread)),
    );
    for (const [index, lane] of lanes.entries()) load.#workers.push(load.#run(lane, index, work));
    if (awake) load.#awake = stayAwake();
    return load;
  }

  /** Counts what is done while the server uses so many seconds of CPU time, or in four times as many of the clock. */
  async count(seconds: number): Promise<Done> {
    const spent = this.target.cpuSeconds ?? (() => cpuSeconds(this.target.pid));
    const [units, cpu, at] = [this.units, spent(), performance.now()];
    let used = 0;
    let clock = 0;
    while (used < seconds && clock < seconds * 4) {
      await Promise.race([sleep(LOOK_MS), Promise.all(this.#workers)]);
      used = spent() - cpu;
      clock = (performance.now() - at) / 1000;
    }
    const done = this.units - units;
    return { units: done, cpuSeconds: used, seconds: clock, perCpuSecond: done / used };
  }

  /** Lets every worker finish what it is at. @throws what a worker threw */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#awake?.stop();
    await Promise.all(this.#workers);
  }

  async #run(lane: Asker, index: number, work: Work): Promise<void> {
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

/**
 * Keeps this process from sleeping until it is stopped. A server that responds makes the kernel wake a sleeping client,
 * on the server's account: 4 µs of the 13 that a request of bare `node:http` takes in all, which only a server that is
 * quick enough to keep the load busy was spared.
 */
export function stayAwake(): { readonly stop: () => void } {
  let isStopped = false;
  const spin = (): void => {
    if (!isStopped) setImmediate(spin);
  };
  spin();
  return {
    stop: () => {
      isStopped = true;
    },
  };
}
