import type { Signal } from '../model/event.js';
import type { CutReason } from '../model/update.js';
import type { SessionHead } from '../ports/store.js';

/** Follows a session for one stream. */
export interface Watch {
  readonly sessionId: string;
  /** Handles a signal of the session. Must not throw. */
  receive(signal: Signal): void;
  /** Compares with the store's current state, to recover signals that the bus has lost. Must not throw. */
  compare(head: SessionHead): void;
  /** Ends the stream, because the session was deleted or the service drains. */
  cut(reason: CutReason): void;
  /** Called when the stream has ended. Nothing is shown afterwards. */
  close(): void;
}
