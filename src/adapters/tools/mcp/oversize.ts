import type { JsonBounds } from '../../platform/net/json-meter.js';

/** Maximum size of a message from a server, in bytes. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/** Limits on a message's structure, so that parsing cannot block the event loop for long. */
export const MESSAGE_BOUNDS: JsonBounds = { values: 20_000, depth: 200 };

/** Builds the error result of a call whose response was too large. */
export function oversizedAnswer(id: number): object {
  const text = `The result is larger than ${String(MAX_MESSAGE_BYTES / 1024 / 1024)} MiB, or has too many values.`;
  return errorResult(id, text);
}

/** Builds the error result of a call that was cancelled. */
export function cancelledAnswer(id: number): object {
  return errorResult(id, 'The call was cancelled.');
}

/** Builds the response to a request whose event stream ended without one; `toFailure` reads it as `gone`. */
export function lostAnswer(id: number): object {
  return { jsonrpc: '2.0', id, error: { code: -32000, message: 'Connection closed' } };
}

function errorResult(id: number, text: string): object {
  return { jsonrpc: '2.0', id, result: { isError: true, content: [{ type: 'text', text }] } };
}

/** Finds the id of a response of which only the two ends were kept; null when neither contains it. */
export function idOfCutAnswer(head: string, tail: string): number | null {
  const found =
    /^\{"jsonrpc":"2\.0","id":(\d{1,15}),"result":/.exec(head) ?? /[^}]"id":(\d{1,15})\}\s*$/.exec(tail);
  return found?.[1] === undefined ? null : Number(found[1]);
}
