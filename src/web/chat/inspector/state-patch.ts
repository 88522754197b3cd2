import { isObject, parseJson } from '../../../client/json.js';
import type { JsonObject } from '../../../client/types.js';

/** Returns the JSON merge patch (RFC 7396) that turns `before` into `after`. */
export function patchBetween(before: JsonObject, after: JsonObject): JsonObject {
  const gone = Object.keys(before).filter((name) => !(name in after));
  const patch: JsonObject = Object.fromEntries(gone.map((name) => [name, null]));
  for (const [name, value] of Object.entries(after)) {
    const old = before[name];
    if (isObject(old) && isObject(value)) {
      const inner = patchBetween(old, value);
      if (Object.keys(inner).length > 0) patch[name] = inner;
    } else if (JSON.stringify(old) !== JSON.stringify(value)) patch[name] = value;
  }
  return patch;
}

/**
 * Parses a JSON object.
 * @throws Error with a message for the user
 */
export function readObject(text: string): JsonObject {
  const value = parseJson(text);
  if (isObject(value)) return value;
  throw new Error('The user state is a JSON object, such as {"evm": {"chain_id": 1}}');
}
