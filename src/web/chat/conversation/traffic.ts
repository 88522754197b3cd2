import type { Exchange, WireEvent } from '../../../client/types.js';
import { Observable } from '../../parts/observable.js';

export interface Numbered<T> {
  readonly n: number;
  readonly value: T;
}

/** Maximum number of entries kept for the inspector. */
const KEPT = 500;

/** The recent requests and events. */
export class Traffic {
  readonly exchanges = new Observable<readonly Numbered<Exchange>[]>([]);
  readonly events = new Observable<readonly Numbered<WireEvent>[]>([]);
  #next = 1;

  readonly addExchange = (exchange: Exchange): void => {
    this.exchanges.set(this.#with(this.exchanges.get(), exchange));
  };

  readonly addEvent = (event: WireEvent): void => {
    this.events.set(this.#with(this.events.get(), event));
  };

  clear(): void {
    this.exchanges.set([]);
    this.events.set([]);
  }

  #with<T>(before: readonly Numbered<T>[], value: T): readonly Numbered<T>[] {
    return [...before, { n: this.#next++, value }].slice(-KEPT);
  }
}
