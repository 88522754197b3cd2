import { readdirSync, readFileSync } from 'node:fs';

/** What a process holds. Sizes in MiB. */
export interface Usage {
  /** Resident memory. */
  readonly rss: number;
  /**
   * Its anonymous part: the heap, buffers and stacks, without mapped files. The nearest to a heap size in /proc.
   */
  readonly anonymous: number;
  readonly descriptors: number;
}

/** Reads /proc (Linux). @throws when the process is gone */
export function readUsage(pid: number): Usage {
  const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
  const size = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? NaN) / 1024;
  return {
    rss: size('VmRSS'),
    anonymous: size('RssAnon'),
    descriptors: readdirSync(`/proc/${String(pid)}/fd`).length,
  };
}

/** Samples until stopped. */
export class Sampler {
  readonly samples: Usage[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number, everyMs: number) {
    this.#timer = setInterval(() => this.samples.push(readUsage(pid)), everyMs);
  }

  stop(): readonly Usage[] {
    clearInterval(this.#timer);
    return this.samples;
  }
}

/** Waits until the descriptors have stayed the same for two seconds, or the time is over. */
export async function settled(pid: number, milliseconds: number): Promise<Usage> {
  const until = Date.now() + milliseconds;
  let [last, same] = [readUsage(pid).descriptors, 0];
  while (same < 8 && Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 250));
    const { descriptors } = readUsage(pid);
    same = descriptors === last ? same + 1 : 0;
    last = descriptors;
  }
  return readUsage(pid);
}

/**
 * What is held after a full collection, which the server makes on this signal: whether one came by itself before is
 * chance.
 */
export async function collected(pid: number, log: string): Promise<Usage> {
  await settled(pid, 15_000);
  const before = heapAfterCollections(log).length;
  process.kill(pid, 'SIGUSR2');
  while (heapAfterCollections(log).length === before) await new Promise((resolve) => setTimeout(resolve, 50));
  return settled(pid, 15_000);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}

/** MiB alive in the main thread's heap after each full collection, from the lines of `--trace-gc`. */
export function heapAfterCollections(log: string): readonly number[] {
  const heaps = new Map<string, number[]>();
  const pattern = /^\[\d+:(0x[0-9a-f]+)(?::\d+)?\].*Mark-Compact.*?[\d.]+ \([\d.]+\) -> ([\d.]+) \(/gm;
  for (const [, isolate = '', size] of readFileSync(log, 'utf8').matchAll(pattern)) {
    heaps.set(isolate, [...(heaps.get(isolate) ?? []), Number(size)]);
  }
  // The main thread's is by far the largest.
  const largest = [...heaps.values()].sort((a, b) => Math.max(...b) - Math.max(...a));
  return largest[0] ?? [];
}
