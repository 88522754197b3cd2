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

/** The end of a thread, from one consistent read. */
export interface StoredTail {
  readonly session: Session;
  /** The last records that a snapshot shows, in order, of ended and open turns. */
  readonly messages: readonly Message[];
  /** How many messages a snapshot of the whole thread would show, see `shownCount`. */
  readonly shown: number;
  /** The running turn, if any, followed by the queued ones in order. Their records are in `messages`. */
  readonly open: readonly Omit<StoredThread['open'][number], 'messages'>[];
  /** As in `StoredThread`. */
  readonly faults: readonly SystemFault[];
}

/** Reads the ends of threads. */
export interface TailStore {
  /**
   * Reads a session with the last records of its thread: enough for a snapshot to show at least `count` messages, or
   * all records if there are fewer. Reads no other records.
   */
  loadTail(id: string, count: number): Promise<StoredTail | 'deleted' | 'unknown'>;
}
