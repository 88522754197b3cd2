import type { SystemFault } from './event.js';
import type { Message } from './message.js';
import type { Session, SessionStatus } from './session.js';

/** A queued or running turn, as a snapshot shows it. */
export interface OpenTurnView {
  /** The turn's records so far, starting with the user's message. */
  readonly messages: readonly Message[];
  /** The text in flight; null before its first character. */
  readonly streaming: { readonly text: string; readonly since: number } | null;
}

/**
 * An immutable view of a session at one moment. The thread, in order, is `settled` followed by each open turn with its
 * text in flight.
 */
export interface Snapshot {
  readonly session: Session;
  readonly status: SessionStatus;
  /** How many messages of the thread come before `settled`: 0 unless only the end of the thread was read. */
  readonly skipped: number;
  /** How many records before `settled` state why their turn failed, see `isFailure`. */
  readonly skippedFailures: number;
  /**
   * The records of ended turns. Stays the same array object as long as records are only appended, so that a cached
   * encoding can be extended.
   */
  readonly settled: readonly Message[];
  /** How many records of `settled` belong to this snapshot: turns that end later append to the same array. */
  readonly settledCount: number;
  readonly open: readonly OpenTurnView[];
  /** The `SystemError`s that no earlier snapshot has delivered. */
  readonly faults: FaultDelivery;
  /** Changes whenever anything that the snapshot shows changes, as an ETag does. */
  readonly tag: string;
}

/** Faults to deliver in one response. The caller calls exactly one of `confirm` and `release`. */
export interface FaultDelivery {
  readonly events: readonly SystemFault[];
  /** The response was sent: no other snapshot delivers these faults. */
  confirm(): void;
  /** The response was not sent: the next snapshot delivers these faults again. */
  release(): void;
}
