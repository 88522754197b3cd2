import type { JsonBounds } from '../../platform/net/json-meter.js';

/** No message of a server may be larger, in bytes. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/** What a message may hold: within this, four MiB are parsed in some tens of milliseconds. */
export const MESSAGE_BOUNDS: JsonBounds = { values: 20_000, depth: 200 };

/** What a call is told whose answer was too large to be read. */
export function oversizedAnswer(id: number): object {
  const text = `The result is larger than ${String(MAX_MESSAGE_BYTES / 1024 / 1024)} MiB, or holds too many values.`;
  return { jsonrpc: '2.0', id, result: { isError: true, content: [{ type: 'text', text }] } };
}

/** The id of an answer of which only both ends were kept, wherever its writer puts it; null when it cannot be told. */
export function idOfCutAnswer(head: string, tail: string): number | null {
  const found =
    /^\{"jsonrpc":"2\.0","id":(\d{1,15}),"result":/.exec(head) ?? /[^}]"id":(\d{1,15})\}\s*$/.exec(tail);
  return found?.[1] === undefined ? null : Number(found[1]);
}
