/**
 * A turn is the work that one user message starts. It is stored with a lease, so that another process can take it over
 * if its owner dies.
 */
export type TurnStatus = 'queued' | 'running' | 'complete' | 'interrupted' | 'failed';

export type TurnOutcome = Extract<TurnStatus, 'complete' | 'interrupted' | 'failed'>;

export interface Turn {
  readonly id: string;
  readonly sessionId: string;
  /** The number of the turn within the session, from 1, in order of arrival. */
  readonly no: number;
  readonly app: string;
  /** The digest of the id of the client whose secrets the turn's tools may use. */
  readonly clientId: string | null;
  /** The id of the App key that authorized the turn's App; null for `default`. */
  readonly keyId: string | null;
  readonly status: TurnStatus;
  readonly createdAt: number;
  /** Why the turn failed, as a message for the user; null unless it failed. */
  readonly error: string | null;
}

/** A turn that this process runs. `attempt` is a fencing token: writes with an older one are refused. */
export interface ClaimedTurn extends Turn {
  readonly status: 'running';
  readonly owner: string;
  readonly attempt: number;
  /** How often an owner of the turn was lost (a crash, not a drain). */
  readonly losses: number;
  /** True if a client has requested an interrupt. */
  readonly cancelRequested: boolean;
  /** The last checkpoint of the unfinished step's text. */
  readonly partialText: string;
  /** When the first character of `partialText` was shown, in milliseconds since the epoch; 0: unknown. */
  readonly partialSince: number;
}

/** Identifies one attempt at a turn: its claim is void once another process has claimed the turn. */
export type TurnClaim = Pick<ClaimedTurn, 'id' | 'owner' | 'attempt'>;

/** Token counts, as the provider reports them. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** More tokens than any model processes for one request. */
const MAX_TOKENS = 1_000_000_000;

/** Makes the counts that a provider reports, which can be any numbers, into whole ones that can be stored and added up. */
export function countable({ inputTokens, outputTokens }: Usage): Usage {
  return { inputTokens: wholeCount(inputTokens), outputTokens: wholeCount(outputTokens) };
}

function wholeCount(tokens: number): number {
  return tokens > 0 ? Math.min(Math.round(tokens), MAX_TOKENS) : 0;
}

/** How a turn went. Rig, usage and `endedAt` are known once it has ended. */
export interface TurnSummary extends Pick<Turn, 'id' | 'no' | 'app' | 'status' | 'error' | 'createdAt'> {
  /** The id of the rig that responded; null if none did. */
  readonly rig: string | null;
  readonly usage: Usage;
  readonly endedAt: number | null;
}

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 };

export function isOpen(status: TurnStatus): boolean {
  return status === 'queued' || status === 'running';
}

/** The owner of a claim, and how long the claim is valid without renewal. */
export interface Lease {
  readonly owner: string;
  readonly milliseconds: number;
}
