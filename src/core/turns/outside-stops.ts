import type { Signal } from '../model/event.js';
import type { Bus } from '../ports/bus.js';
import type { Log } from '../ports/log.js';
import type { Store } from '../ports/store.js';
import type { RunningTurn } from './running-turn.js';

interface StopParts {
  readonly store: Pick<Store, 'heads'>;
  readonly bus: Bus;
  readonly log: Log;
}

/**
 * Subscribes to what stops a turn from outside: interrupts from other nodes and the deletion of its session. A bus that
 * is slow to attach does not hold up the turn, because both also arrive with the renewal of the lease.
 * @returns the function that ends the subscription. Never rejects.
 */
export function listenForStops({ store, bus, log }: StopParts, running: RunningTurn): Promise<() => void> {
  const { id, sessionId } = running.turn;
  const onSignal = (signal: Signal): void => {
    if (signal.type === 'interrupt' && signal.turnId === id) running.stop('interrupted');
    if (signal.type === 'session_deleted') void stopIfDeleted(store, running);
  };
  return bus.subscribe(sessionId, onSignal).catch((error: unknown) => {
    log.warn({ err: error, turn: id }, 'bus subscription failed for a turn');
    return () => undefined;
  });
}

/** The session may have been created again since the signal. If it cannot be read, the lease keeper notices. */
export async function stopIfDeleted(store: StopParts['store'], running: RunningTurn): Promise<void> {
  const { sessionId } = running.turn;
  const heads = await store.heads([sessionId]).catch(() => undefined);
  if (heads !== undefined && typeof heads.get(sessionId) !== 'object') running.stop('deleted');
}
