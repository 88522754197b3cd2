import type { LimitSettings } from './quota.js';
import type { BusyStrategy } from './store.js';

/** The numbers of CoreService; times in milliseconds, sizes in bytes. */
export interface CoreSettings {
  readonly maxMessageBytes: number;
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
   * For how long memory is taken for what the store says without asking it. 0: it is asked each time, because other nodes write, and what
   * one of them has acknowledged must hold on all.
   */
  readonly mirrorMs: number;
}
