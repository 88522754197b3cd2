import type { SystemFault } from '../model/event.js';
import type { Message } from '../model/message.js';
import type { Session, SessionFields } from '../model/session.js';
import type { Turn, TurnSummary } from '../model/turn.js';

/** The records of ended turns to read: the newest ones, or those of turns after the turn of a record. */
export type ThreadPart =
  { readonly newest: number } | { readonly after: { readonly id: string; readonly turnNo: number } };

/** The size of the text of a page of records, in characters, after which the page ends early: it is read at once. */
export const PAGE_CHARS = 1_000_000;

/** A session with everything that a snapshot needs, from one consistent read. */
export interface StoredThread {
  readonly session: Session;
  /** The records of ended turns, in order: all of them, or the requested part. */
  readonly settled: readonly Message[];
  /** How many messages a snapshot shows before those of `settled` and `open`. 0: the thread is whole. */
  readonly skipped: number;
  /** How many records before those of `settled` and `open` state why their turn failed, see `isFailure`. */
  readonly skippedFailures: number;
  /** True if `settled` follows the record that a part is to follow. False: the session has no such record. */
  readonly continues: boolean;
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
  /** How many records of the whole thread state why their turn failed, see `isFailure`. */
  readonly failures: number;
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

/** A new session to create with the history of another one, the source. */
export interface Branching {
  readonly sourceId: string;
  /** Branch only if the source still has this `version`. */
  readonly ifVersion: number;
  /** The id of the record that ends the history, excluded; null: the history is whole. */
  readonly before: string | null;
  /** The id of the new session, which no session has or had. */
  readonly id: string;
  /** The fields of the new session. */
  readonly set: SessionFields;
  /** As in `Acceptance`, among the keys of the source. */
  readonly idempotency: {
    readonly key: string;
    readonly fingerprint: string;
    readonly notBefore: number;
  } | null;
  /** The maximum size of the history, in bytes, see `textBytes`. */
  readonly maxSessionBytes: number;
  readonly at: number;
}

/** The result of branching. Only `branched` has written anything. */
export type Branched =
  | {
      readonly kind: 'branched';
      readonly session: Session;
      /** The size of the history, in bytes. */
      readonly bytes: number;
    }
  /** The idempotency key was used for the same branch, which created the session `sessionId`. */
  | { readonly kind: 'repeated'; readonly sessionId: string }
  | { readonly kind: 'key_reused' }
  /** The source is not stored. */
  | { readonly kind: 'missing' }
  | { readonly kind: 'stale' }
  /** The source has no record `before`. */
  | { readonly kind: 'unknown_message' }
  /** The turn of the record `before` has not ended. */
  | { readonly kind: 'open_turn' }
  /** The history is larger than `maxSessionBytes`: it has `bytes`. */
  | { readonly kind: 'full'; readonly bytes: number };

/** Branches threads, and reads how their turns went. */
export interface BranchStore {
  /**
   * Creates a session with copies of the records of ended turns, up to a record, and of these turns. Records and turns
   * get new ids and keep their numbers. Copies no events, faults, wallet requests and idempotency keys, counts no use,
   * and changes nothing of the source but its idempotency keys.
   */
  branchSession(branching: Branching): Promise<Branched>;
  /** Reads the turns of a session with these numbers, ends included, in order. */
  readTurns(id: string, numbers: { readonly from: number; readonly to: number }): Promise<TurnSummary[]>;
}
