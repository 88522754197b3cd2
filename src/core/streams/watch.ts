import type { Signal } from '../model/event.js';
import type { CutReason } from '../model/update.js';
import type { SessionHead } from '../ports/store.js';

/** What follows a session for one stream. */
export interface Watch {
  readonly sessionId: string;
  /** A signal of the session. Must not throw. */
  hear(signal: Signal): void;
  /** How far the store is: whatever the bus has lost is made good by this. Must not throw. */
  compare(head: SessionHead): void;
  /** Ends the stream: the thread is gone, or the service drains. */
  cut(reason: CutReason): void;
  /** The stream has ended: nothing is shown any more. */
  close(): void;
}
