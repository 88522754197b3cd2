import type { SystemFault } from '../model/event.js';
import type { Message } from '../model/message.js';
import type { Session } from '../model/session.js';
import type { Turn } from '../model/turn.js';

/** A session with everything that a snapshot needs, read at one moment. */
export interface StoredThread {
  readonly session: Session;
  /** The records of ended turns, in order. */
  readonly settled: readonly Message[];
  /** The running turn, if any, then the queued ones in order. */
  readonly open: readonly {
    readonly turn: Turn;
    readonly messages: readonly Message[];
    readonly partialText: string;
    /** As in `ClaimedTurn`. */
    readonly partialSince: number;
  }[];
  /** What no snapshot has carried yet, in order. */
  readonly faults: readonly SystemFault[];
}
