import type { Message } from './message.js';
import type { Session, SessionStatus } from './session.js';

/** A turn that waits or works, as a snapshot shows it. */
export interface OpenTurnView {
  /** Its records so far; the user's message is the first. */
  readonly messages: readonly Message[];
  /** The text of the step in flight; null before its first character. */
  readonly streaming: { readonly text: string; readonly since: number } | null;
}

/**
 * A session at one moment, whatever happens after it: `settled`, then each open turn with its text in flight, is the
 * thread in order.
 */
export interface Snapshot {
  readonly session: Session;
  readonly status: SessionStatus;
  /** How many messages of the thread come before `settled`: 0 unless only its end was read. */
  readonly skipped: number;
  /**
   * The records of ended turns. The same array object for as long as it only grows at its end,
   * so that an encoding of it can be kept and added to.
   */
  readonly settled: readonly Message[];
  /** How many of them the snapshot has: turns that ended after it was taken have added theirs. */
  readonly settledCount: number;
  readonly open: readonly OpenTurnView[];
  /** The `SystemError`s that this snapshot is the first to carry. */
  readonly faults: FaultDelivery;
  /** Differs whenever anything that a snapshot shows differs. */
  readonly tag: string;
}

/** Faults handed to one answer. Exactly one of the two is called once the answer was sent, or was not. */
export interface FaultDelivery {
  readonly texts: readonly string[];
  /** The answer was sent: no other snapshot carries them. */
  confirm(): void;
  /** The answer was not sent: the next snapshot carries them again. */
  release(): void;
}
