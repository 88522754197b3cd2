import type { Weather } from './world.js';

/** So long after a fault of the store its last answers may still arrive: of connections that had to be found dead. */
const GRACE_MS = 3_000;

interface Storm {
  /** Null: all of them. */
  readonly node: string | null;
  to: number | null;
}

/** The times when the store, or the way of a node to it, is away. */
export class StoreWeather implements Weather {
  readonly #storms: Storm[] = [];
  #calm: Promise<void> = Promise.resolve();
  #setCalm: () => void = () => undefined;
  #calmSince: number | null = 0;

  isRough(node: string, since: number): boolean {
    return this.#storms.some(
      (storm) => (storm.node === null || storm.node === node) && (storm.to ?? Infinity) + GRACE_MS >= since,
    );
  }

  get calmSince(): number | null {
    return this.#calmSince;
  }

  whenCalm(): Promise<void> {
    return this.#calm;
  }

  /** @param node the one that cannot reach the store; null: none can */
  begin(node: string | null): void {
    this.#storms.push({ node, to: null });
    if (this.#calmSince === null) return;
    this.#calmSince = null;
    this.#calm = new Promise((resolve) => (this.#setCalm = resolve));
  }

  /** Ends all of it. */
  clear(): void {
    const now = Date.now();
    for (const storm of this.#storms) storm.to ??= now;
    if (this.#calmSince !== null) return;
    this.#calmSince = now;
    this.#setCalm();
  }
}
