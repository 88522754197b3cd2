import { setImmediate as nextRound } from 'node:timers/promises';
import type { Random } from '../../chaos/random.js';

interface Timer {
  readonly at: number;
  readonly act: () => void;
}

/** Replaces the timers, the monotonic clock and the random numbers of the platform. Time passes from timer to timer. */
export class VirtualTime {
  /** In milliseconds. */
  now = 0;
  #lastId = 0;
  readonly #timers = new Map<number, Timer>();

  /** @param random the source of random numbers */
  constructor(private readonly random: Random) {}

  /** Runs a simulation in this time. */
  async during<T>(simulate: () => Promise<T>): Promise<T> {
    // Without spies, which keep the arguments of all calls.
    const restore = [
      replace(globalThis, 'setTimeout', this.#set),
      replace(globalThis, 'clearTimeout', (id: number) => this.#timers.delete(id)),
      replace(performance, 'now', () => this.now),
      replace(Math, 'random', () => this.random.next()),
    ];
    try {
      return await simulate();
    } finally {
      for (const undo of restore) undo();
    }
  }

  /** The number of timers that are set. */
  get pending(): number {
    return this.#timers.size;
  }

  /**
   * Lets the next timer act, at its time.
   * @param until the latest time of that timer
   * @returns false if there is none
   */
  actNext(until: number): boolean {
    let next: readonly [number, Timer] | undefined;
    for (const entry of this.#timers)
      if (entry[1].at <= until && (next === undefined || entry[1].at < next[1].at)) next = entry;
    if (next === undefined) return false;
    const [id, { at, act }] = next;
    this.#timers.delete(id);
    this.now = at;
    act();
    return true;
  }

  readonly #set = (act: () => void, milliseconds = 0): number => {
    this.#timers.set(++this.#lastId, { at: this.now + milliseconds, act });
    return this.#lastId;
  };
}

/** Resolves when all promises that need neither time nor the network are settled. */
export async function settle(): Promise<void> {
  await nextRound();
}

/** @returns a function that restores the property */
function replace(target: object, name: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(target, name);
  Object.defineProperty(target, name, { value, configurable: true, writable: true });
  return () => {
    if (before === undefined) Reflect.deleteProperty(target, name);
    else Object.defineProperty(target, name, before);
  };
}
