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
   * How long a session may be shown from memory without asking the store whether somebody else has written. 0 where several nodes share
   * the store: what one has acknowledged, the next must show.
   */
  readonly freshMs: number;
}
