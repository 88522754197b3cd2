import type { Signal, Commit } from '../model/event.js';

/** Carries signals of a session to whoever watches it, on this node and, with a shared bus, on all others. */
export interface Bus {
  /** Delivers in order of publication. Never fails: a watcher who misses a signal catches up from the store. */
  publish(sessionId: string, signal: Signal): void;
  /** Resolves once attached: nothing published after that is missed. `listener` must not throw. */
  subscribe(sessionId: string, listener: (signal: Signal) => void): Promise<() => void>;
  close(): Promise<void>;
}

/** Tells every watcher what a commit logged. Stored first, then announced. */
export function announce(bus: Bus, sessionId: string, commit: Commit): void {
  for (const event of commit.events) bus.publish(sessionId, { type: 'logged', event });
  bus.publish(sessionId, { type: 'session_changed', revision: commit.revision });
}
