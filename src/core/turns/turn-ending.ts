import { TurnStopped } from '../model/abort.js';
import { wellFormed } from '../model/text.js';
import type { Log } from '../ports/log.js';
import { RigError } from '../ports/rig.js';
import { StoreUnavailableError } from '../ports/store.js';
import type { RunningTurn } from './running-turn.js';
import type { Ending } from './turn-loop.js';

/**
 * Maps an error to the ending of a turn. Undefined: this process leaves the turn as stored, and another owner continues
 * it or it was deleted.
 * @throws StoreUnavailableError when that was the error
 */
export function endingAfter(
  error: unknown,
  running: RunningTurn,
  { log, turnTimeoutMs }: { readonly log: Log; readonly turnTimeoutMs: number },
): Ending | undefined {
  const reason: unknown = running.signal.aborted ? running.signal.reason : error;
  if (reason instanceof TurnStopped) {
    switch (reason.stop) {
      case 'interrupted':
        return { outcome: 'interrupted', error: null };
      case 'timeout': {
        const seconds = String(turnTimeoutMs / 1000);
        return {
          outcome: 'failed',
          error: `The answer took longer than ${seconds} s and was stopped. Try again.`,
        };
      }
      case 'overlong':
        return {
          outcome: 'failed',
          error: 'The answer grew too long and was stopped. Ask for less at once.',
        };
      case 'deleted':
      case 'handover':
      case 'lost':
        return undefined;
    }
  }
  if (error instanceof StoreUnavailableError) throw error;
  log.error({ err: error, turn: running.turn.id, rig: running.rigId }, 'turn failed');
  if (error instanceof RigError) return { outcome: 'failed', error: wellFormed(error.message) };
  return {
    outcome: 'failed',
    error: 'Something went wrong inside the service while answering. Send the message again.',
  };
}

/**
 * Returns the text of the step in flight to keep. An incomplete turn without new text keeps what an earlier attempt
 * published.
 */
export function shownText({ text, leftover }: RunningTurn, { outcome }: Ending): string {
  return text === '' && outcome !== 'complete' ? leftover : text;
}
