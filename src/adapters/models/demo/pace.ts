import { setImmediate, setTimeout } from 'node:timers/promises';

/** A word with the space before it; longer words are split. */
const PIECE = /\s*\S{1,24}|\s+/gu;
/** At full speed, the generator yields to the event loop after this many pieces. */
const PIECES_PER_TURN = 32;

/**
 * Splits a text into pieces of about one word and yields them at an interval; joined, they are the text.
 * @throws the reason of `signal`, as soon as it aborts
 */
export async function* pacedPieces(
  text: string,
  milliseconds: number,
  signal: AbortSignal,
): AsyncGenerator<string> {
  let count = 0;
  for (const [piece] of text.matchAll(PIECE)) {
    if (count > 0 && (milliseconds > 0 || count % PIECES_PER_TURN === 0)) await pause(milliseconds, signal);
    signal.throwIfAborted();
    yield piece;
    count++;
  }
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  try {
    if (milliseconds > 0) await setTimeout(milliseconds, undefined, { signal });
    else await setImmediate(undefined, { signal });
  } catch (error) {
    signal.throwIfAborted(); // Node's AbortError has the reason only as its cause
    throw error;
  }
}
