import type { LimitSettings } from './quota.js';
import type { BusyStrategy } from './app.js';

/** How long a lease holds without renewal, in milliseconds. The same for all processes that share a store. */
export const LEASE_MS = 6_000;

/** The numbers of CoreService; times in milliseconds, sizes in bytes. */
export interface CoreSettings {
  readonly maxMessageBytes: number;
  /** How much text a thread may hold for a message to be taken. */
  readonly maxSessionBytes: number;
  /** How much may be kept of the secrets of one App, see `secretBytes`. */
  readonly maxSecretsBytes: number;
  /** How many messages may wait behind a running turn. */
  readonly maxQueued: number;
  /** How often a turn may ask its rig. */
  readonly maxSteps: number;
  readonly turnTimeoutMs: number;
  readonly toolTimeoutMs: number;
  readonly busyStrategy: BusyStrategy;
  readonly limits: LimitSettings;
  /** How many events of a session are kept, and for how long all of them are. */
  readonly eventsKept: number;
  readonly eventsKeptMs: number;
  readonly idempotencyMs: number;
  /** Threads without activity for so long are deleted; null: never. */
  readonly retentionMs: number | null;
  /** A turn whose lease was not renewed for so long is taken for lost. */
  readonly leaseMs: number;
  readonly renewMs: number;
  /**
   * For how long memory is taken for what the store says without asking it. 0: it is asked each time, because other
   * nodes write, and what one of them has acknowledged must hold on all.
   */
  readonly mirrorMs: number;
}
