import type { Signal, Commit } from '../model/event.js';

/** Delivers the signals of a session to its subscribers, on this node and, with a shared bus, on all others. */
export interface Bus {
  /** True while signals reach all nodes. */
  readonly isUp: boolean;
  /** Delivers in order of publication. Never fails: a subscriber that misses a signal catches up from the store. */
  publish(sessionId: string, signal: Signal): void;
  /**
   * Resolves once the subscription is active: every signal published after that is delivered.
   * @param listener must not throw
   * @returns the function that unsubscribes
   */
  subscribe(sessionId: string, listener: (signal: Signal) => void): Promise<() => void>;
  close(): Promise<void>;
}

/** Publishes what a commit logged. To be called after the commit is stored. */
export function announce(bus: Bus, sessionId: string, commit: Commit): void {
  for (const event of commit.events) bus.publish(sessionId, { type: 'logged', event });
  bus.publish(sessionId, { type: 'session_changed', revision: commit.revision });
}
