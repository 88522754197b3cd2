import { useSyncExternalStore } from 'react';

/** A value whose changes can be subscribed to. */
export interface Readable<T> {
  readonly get: () => T;
  readonly subscribe: (listener: () => void) => () => void;
}

/** A value with change listeners. */
export class Observable<T> implements Readable<T> {
  readonly #listeners = new Set<() => void>();
  #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  readonly get = (): T => this.#value;

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const listener of this.#listeners) listener();
  }

  /** Returns a function that unsubscribes. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  };
}

/** Returns the current value, and renders the component again when it changes. */
export function useObservable<T>(observable: Readable<T>): T {
  return useSyncExternalStore(observable.subscribe, observable.get);
}

/**
 * Returns what is selected of the current value, and renders the component again only when that changes.
 * @param select returns a primitive value, or an object that the observed value contains
 */
export function useSelected<T, S>(observable: Readable<T>, select: (value: T) => S): S {
  return useSyncExternalStore(observable.subscribe, () => select(observable.get()));
}
