/**
 * A turn is the work that one user message starts. It is a row with a lease, not a promise in memory:
 * whoever finds it without a living owner takes it over.
 */
export type TurnStatus = 'queued' | 'running' | 'complete' | 'interrupted' | 'failed';

/** How a turn can end. */
export type TurnOutcome = Extract<TurnStatus, 'complete' | 'interrupted' | 'failed'>;

/** A turn as it is stored. */
export interface Turn {
  readonly id: string;
  readonly sessionId: string;
  /** Its place in the session: 1, 2, 3 … in order of arrival. */
  readonly no: number;
  readonly app: string;
  /** The digest of the id of the client whose secrets the turn's tools may use. */
  readonly clientId: string | null;
  /** The id of the App key that opened its App; null for `default`. */
  readonly keyId: string | null;
  readonly status: TurnStatus;
  readonly createdAt: number;
  /** Words for the user on why it failed, once it has. */
  readonly error: string | null;
}

/** A turn that this process runs. `attempt` fences: a writer with an older one is refused. */
export interface ClaimedTurn extends Turn {
  readonly status: 'running';
  readonly owner: string;
  readonly attempt: number;
  /** How often its owner was lost (a crash, not a drain). */
  readonly losses: number;
  /** Somebody asked to interrupt it. */
  readonly cancelRequested: boolean;
  /** The text of the unfinished step as last checkpointed. */
  readonly partialText: string;
  /** When the first character of `partialText` was shown, in milliseconds since the epoch; 0: not known. */
  readonly partialSince: number;
}

/** What a turn cost, in the provider's tokens. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Before anything was billed. */
export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 };

/** True while a turn waits or works. */
export function isOpen(status: TurnStatus): boolean {
  return status === 'queued' || status === 'running';
}

/** Who claims turns or faults, and for how long a claim holds without renewal. */
export interface Lease {
  readonly owner: string;
  readonly milliseconds: number;
}
