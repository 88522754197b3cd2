import type { SystemFault } from '../model/event.js';
import type { Message } from '../model/message.js';
import type { Session } from '../model/session.js';
import type { StoredThread } from './stored-thread.js';

/** The end of a thread, read at one moment. */
export interface StoredTail {
  readonly session: Session;
  /** The last records that a snapshot shows something of, in order, whether their turns have ended or not. */
  readonly messages: readonly Message[];
  /** How many messages a snapshot shows of all stored records of the thread, see `shownCount`. */
  readonly shown: number;
  /** The running turn, if any, then the queued ones in order. Their records are among `messages`. */
  readonly open: readonly Omit<StoredThread['open'][number], 'messages'>[];
  /** As in `StoredThread`. */
  readonly faults: readonly SystemFault[];
}

/** Reads the ends of threads. */
export interface TailStore {
  /**
   * Reads a session with the last records of its thread: so many that a snapshot shows at least `count` messages of
   * them, or all there are. Reads no other record.
   */
  loadTail(id: string, count: number): Promise<StoredTail | 'deleted' | 'unknown'>;
}
