import type { Response } from 'express';
import type { Core, Sent } from '../../core/core.js';

/** Waits for the turn to end, but no longer than `seconds`, and no longer than the client does. */
export async function waitForTurn(core: Core, sent: Sent, res: Response, seconds: number): Promise<void> {
  const patience = new AbortController();
  const stop = () => {
    patience.abort();
  };
  const timer = setTimeout(stop, seconds * 1000);
  res.once('close', stop);
  if (res.closed) stop();
  await core.turnEnded(sent, patience.signal);
  clearTimeout(timer);
  res.off('close', stop);
}
