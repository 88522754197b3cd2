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

/** Counts of durations by bucket: bucket `n` has the durations around 2^(n/8) milliseconds. */
export type DurationCounts = Readonly<Record<string, number>>;

/** The work of one process in one minute. */
export interface ActivityRow {
  /** The start of the minute, in milliseconds since the epoch. */
  readonly at: number;
  /** The id of the process. */
  readonly node: string;
  readonly complete: number;
  readonly interrupted: number;
  readonly failed: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** From the start of an attempt at a turn to its first text. */
  readonly firstText: DurationCounts;
  /** From the start of an attempt at a turn to the turn's end. */
  readonly duration: DurationCounts;
}

/** A turn that failed. */
export interface FailureRow {
  readonly at: number;
  readonly turnId: string;
  /** Null: the session was deleted. */
  readonly sessionId: string | null;
  readonly app: string;
  readonly rig: string | null;
  /** Why the last model request failed, with the provider's words. Null: the turn failed for another reason. */
  readonly reason: string | null;
}

/** The turns and tokens of an App, by the key that their messages were sent with. */
export interface WorkTotal {
  readonly app: string;
  /** Null: without an App key. */
  readonly keyId: string | null;
  readonly turns: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** The work of one day (UTC). */
export interface WorkRow extends WorkTotal {
  /** The start of the day, in milliseconds since the epoch. */
  readonly day: number;
}

/** What a process adds to the stored history. */
export interface NewActivity {
  /** Replace the rows of the same minute and process. */
  readonly minutes: readonly ActivityRow[];
  readonly failures: readonly FailureRow[];
  /** Are added to the stored numbers. */
  readonly work: readonly WorkRow[];
}

/** How many failures are kept. */
export const MAX_FAILURES = 1_000;

/** Queries for the operator's overview. They cover all nodes. */
export interface OverviewStore {
  /** Reads the queued and running turns, oldest first, at most `limit`. */
  readOpenTurns(limit: number): Promise<readonly OpenTurn[]>;
  /** Counts the sessions with activity at or after `since`. Stops at `limit`. */
  countSessions(since: number, limit: number): Promise<number>;
  /** Reads the uses of sessions and App keys in windows from `from` on: largest first, at most `limit`. */
  readUses(from: number, limit: number): Promise<readonly Use[]>;
  /**
   * Stores history. Keeps the newest `MAX_FAILURES` failures, without the ids of deleted sessions. Safe to
   * call from several nodes at once.
   */
  saveActivity(added: NewActivity): Promise<void>;
  /** Reads the minutes from `since` on, in order. */
  readActivity(since: number): Promise<ActivityRow[]>;
  /** Reads failures, newest first, each with the message that the user received; null: the session was deleted. */
  readFailures(limit: number): Promise<(FailureRow & { readonly error: string | null })[]>;
  /** Sums the work of the days from `since` on (the start of a day) by App and key: most turns first. */
  readWork(since: number): Promise<WorkTotal[]>;
}
