/** What may go. */
export interface Prune {
  readonly at: number;
  /** Threads without activity since then are deleted; null: none is. */
  readonly threadsBefore: number | null;
  readonly eventsKept: number;
  /** Events since then stay, whatever their number. */
  readonly eventsSince: number;
  readonly idempotencyBefore: number;
  /** Counts of windows that began before are forgotten. */
  readonly usesBefore: number;
  /** Counts of requests of days before this one (its first millisecond) are forgotten. */
  readonly usageBefore: number;
}
