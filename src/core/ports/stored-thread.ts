import type { SystemFault } from '../model/event.js';
import type { Message } from '../model/message.js';
import type { Session } from '../model/session.js';
import type { Turn } from '../model/turn.js';

/** A session with everything that a snapshot needs, from one consistent read. */
export interface StoredThread {
  readonly session: Session;
  /** The records of ended turns, in order. */
  readonly settled: readonly Message[];
  /** The running turn, if any, followed by the queued ones in order. */
  readonly open: readonly {
    readonly turn: Turn;
    readonly messages: readonly Message[];
    readonly partialText: string;
    /** As in `ClaimedTurn`. */
    readonly partialSince: number;
  }[];
  /** The faults that no snapshot has delivered, in order. */
  readonly faults: readonly SystemFault[];
}
