/**
 * A stream from the core. It ends by itself when its session is deleted, on a drain, or when its turn has ended, and
 * at once when `signal` aborts. `overflowed` says, after the end, that the consumer was too slow.
 */
export interface Feed<T> {
  readonly overflowed: boolean;
  /**
   * Gives each item to `take` the moment it comes. While the promise that it returned is pending, what comes waits.
   * Called once, by the one consumer. Resolves at the end. @throws what `take` threw, once the feed is closed
   */
  each(take: (item: T) => Promise<void> | undefined): Promise<void>;
  /** Ends it and lets go of everything. Safe to call more than once. */
  close(): void;
}
