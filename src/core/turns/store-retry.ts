import { pause, type Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { CoreSettings } from '../model/settings.js';
import { StoreUnavailableError } from '../ports/store.js';

const PAUSE_MS = 500;

/**
 * Stores something of a running turn. What was said or done is not given up lightly: the store may be back in a moment,
 * and for as long as the lease may hold nobody else works on the turn.
 * @throws StoreUnavailableError when it is not back by then
 */
export async function storePatiently<T>(
  {
    clock,
    log,
    settings,
  }: { readonly clock: Clock; readonly log: Log; readonly settings: Pick<CoreSettings, 'leaseMs'> },
  turnId: string,
  write: () => Promise<T>,
): Promise<T> {
  const until = clock.monotonic() + settings.leaseMs;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || clock.monotonic() > until) throw error;
      log.warn({ err: error, turn: turnId }, 'a turn could not be stored, trying again');
      await pause(clock, PAUSE_MS);
    }
  }
}
