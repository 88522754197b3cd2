import type { Response } from 'express';
import type { ChatApi } from '../../core/api.js';
import type { Sent } from '../../core/model/send-request.js';
import type { SessionRef } from '../../core/model/session.js';
import { RefusedError } from '../../core/model/refusal.js';
import type { Snapshot } from '../../core/model/snapshot.js';
import { onClosed } from '../../http/connections/pending-responses.js';

/**
 * Waits for the turn to end, but no longer than `seconds`, and no longer than the client does.
 * @throws RefusedError `gone` when the thread was deleted before its turn ended
 */
export async function waitForTurn(core: ChatApi, sent: Sent, res: Response, seconds: number): Promise<void> {
  const patience = new AbortController();
  const stop = () => {
    patience.abort();
  };
  const timer = setTimeout(stop, seconds * 1000);
  const stopListening = onClosed(res, stop);
  const end = await core.turnEnded(sent, patience.signal);
  clearTimeout(timer);
  stopListening();
  if (end === 'deleted') throw deletedSince();
}

/**
 * The session after a message of it was accepted.
 * @throws RefusedError `gone` when it was deleted since: `not_found` would say that nothing was accepted
 */
export async function snapshotAfter(core: ChatApi, session: SessionRef): Promise<Snapshot> {
  try {
    return await core.snapshot(session);
  } catch (error) {
    throw error instanceof RefusedError && error.reason === 'not_found' ? deletedSince() : error;
  }
}

function deletedSince(): RefusedError {
  return new RefusedError(
    'gone',
    'The message was accepted, and its thread was deleted before it was answered',
  );
}
