import type { Use } from '../model/quota.js';

/** A queued or running turn, as an operator sees it. */
export interface OpenTurn {
  readonly turnId: string;
  readonly sessionId: string;
  readonly status: 'queued' | 'running';
  readonly app: string;
  readonly keyId: string | null;
  /** How often the turn was claimed. More than once: an owner was lost or drained. */
  readonly attempt: number;
  /** When the turn's message arrived, in milliseconds since the epoch. */
  readonly createdAt: number;
}

/** Queries for the operator's overview. They cover all nodes. */
export interface OverviewStore {
  /** Reads the queued and running turns, oldest first, at most `limit`. */
  readOpenTurns(limit: number): Promise<readonly OpenTurn[]>;
  /** Counts the sessions with activity at or after `since`. Stops at `limit`. */
  countSessions(since: number, limit: number): Promise<number>;
  /** Reads the uses of sessions and App keys in windows from `from` on: largest first, at most `limit`. */
  readUses(from: number, limit: number): Promise<readonly Use[]>;
}
