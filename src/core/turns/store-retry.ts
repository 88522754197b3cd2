import { pause, type Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { CoreSettings } from '../model/settings.js';
import { StoreUnavailableError } from '../ports/store.js';

const PAUSE_MS = 500;

/**
 * Retries a read or a write of a running turn while the store is unavailable, for at most one lease period.
 * @param access `isRepeat`: an attempt before has failed, and what it wrote may be stored
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
  access: (isRepeat: boolean) => Promise<T>,
  message = 'failed to store a turn, retrying',
): Promise<T> {
  const until = clock.monotonic() + settings.leaseMs;
  for (let isRepeat = false; ; isRepeat = true) {
    try {
      return await access(isRepeat);
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || clock.monotonic() > until) throw error;
      log.warn({ err: error, turn: turnId }, message);
      await pause(clock, PAUSE_MS);
    }
  }
}
