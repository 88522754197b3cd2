import { pause, type Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { CoreSettings } from '../model/settings.js';
import { StoreUnavailableError } from '../ports/store.js';

const PAUSE_MS = 500;

/**
 * Retries a read or a write of a running turn while the store is unavailable, for at most one lease period.
 * @param message the log message of a failure
 * @throws StoreUnavailableError when the store is still unavailable after that
 */
export async function storePatiently<T>(
  {
    clock,
    log,
    settings,
  }: { readonly clock: Clock; readonly log: Log; readonly settings: Pick<CoreSettings, 'leaseMs'> },
  turnId: string,
  access: () => Promise<T>,
  message = 'failed to store a turn, retrying',
): Promise<T> {
  const until = clock.monotonic() + settings.leaseMs;
  for (;;) {
    try {
      return await access();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || clock.monotonic() > until) throw error;
      log.warn({ err: error, turn: turnId }, message);
      await pause(clock, PAUSE_MS);
    }
  }
}
