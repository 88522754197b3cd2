import type { Use } from '../model/quota.js';

/** A turn that runs or waits, as an operator sees it. */
export interface OpenTurn {
  readonly turnId: string;
  readonly sessionId: string;
  readonly status: 'queued' | 'running';
  readonly app: string;
  readonly keyId: string | null;
  /** How often it was claimed; more than one: an owner was lost or drained. */
  readonly attempt: number;
  /** When its message came, in milliseconds since the epoch. */
  readonly createdAt: number;
}

/** What an operator's view reads of a store, on all nodes alike. */
export interface OverviewStore {
  /** The turns that run or wait, oldest first, at most `limit`. */
  readOpenTurns(limit: number): Promise<readonly OpenTurn[]>;
  /** How many sessions had activity at or after a time. Counts no further than `limit`. */
  countSessions(since: number, limit: number): Promise<number>;
  /** What sessions and App keys have used in windows that began at or after a time: the most first, at most `limit`. */
  readUses(from: number, limit: number): Promise<readonly Use[]>;
}
