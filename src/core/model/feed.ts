/**
 * A stream from the core. It ends when its session is deleted, when its turn ends, on a drain, and when the signal that
 * it was opened with aborts. `overflowed` is set after the end if the consumer was too slow.
 */
export interface Feed<T> {
  readonly overflowed: boolean;
  /**
   * Passes each item to `take` as soon as it arrives. Items are queued while a promise that `take` returned is pending.
   * To be called once, by the only consumer. Resolves at the end of the feed.
   * @throws what `take` threw, after closing the feed
   */
  each(take: (item: T) => Promise<void> | undefined): Promise<void>;
  /** Ends the feed and releases its resources. Idempotent. */
  close(): void;
}
