import type { Response } from 'express';
import type { ChatApi } from '../../core/api.js';
import type { Sent } from '../../core/model/send-request.js';
import type { SessionRef } from '../../core/model/session.js';
import { RefusedError } from '../../core/model/refusal.js';
import type { Snapshot } from '../../core/model/snapshot.js';
import { onClosed } from '../../http/connections/pending-responses.js';

/** Maximum delay of a response by `Prefer: wait`, in seconds. */
export const MAX_WAIT = 60;

/**
 * Waits until the turn ends, for at most `seconds`, or until the client disconnects.
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
 * Returns a snapshot of the session after a message was accepted.
 * @throws RefusedError `gone` when the session was deleted since; `not_found` would imply that the message was not
 * accepted
 */
export async function snapshotAfter(core: ChatApi, session: SessionRef): Promise<Snapshot> {
  try {
    return await core.snapshot(session);
  } catch (error) {
    throw error instanceof RefusedError && error.reason === 'not_found' ? deletedSince() : error;
  }
}

function deletedSince(): RefusedError {
  return new RefusedError('gone', 'The message was accepted, but its thread was deleted before the response');
}
