import type { LimitSettings } from './quota.js';
import type { BusyStrategy } from './app.js';

/** How long a lease is valid without renewal, in milliseconds. Must be equal in all processes that share a store. */
export const LEASE_MS = 6_000;

/** The settings of the core. Times are in milliseconds, sizes in bytes. */
export interface CoreSettings {
  readonly maxMessageBytes: number;
  /** A message is refused if it would make the thread larger than this, see `textBytes`. */
  readonly maxSessionBytes: number;
  /** The maximum size of all secrets of one App, see `secretBytes`. */
  readonly maxSecretsBytes: number;
  /** How many turns of a session may be queued behind the running one. */
  readonly maxQueued: number;
  /** How many model requests a turn may make. */
  readonly maxSteps: number;
  readonly turnTimeoutMs: number;
  readonly toolTimeoutMs: number;
  readonly busyStrategy: BusyStrategy;
  readonly limits: LimitSettings;
  /** Retention of events: the newest `eventsKept` of a session, and all that are younger than `eventsKeptMs`. */
  readonly eventsKept: number;
  readonly eventsKeptMs: number;
  readonly idempotencyMs: number;
  /** How long a wallet request waits for its outcome. */
  readonly walletRequestMs: number;
  /** How long the service looks for a reported transaction on its chain. */
  readonly walletConfirmMs: number;
  /** Threads without activity for this long are deleted; null: never. */
  readonly retentionMs: number | null;
  /** A lease that was not renewed for this long counts as lost. */
  readonly leaseMs: number;
  readonly renewMs: number;
  /**
   * How long a cached session may be served without checking its revision in the store. 0: always check. Required with
   * several nodes, because a write that one node has acknowledged must be visible on all.
   */
  readonly mirrorMs: number;
}
