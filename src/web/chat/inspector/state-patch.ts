import { isObject, parseJson } from '../../../client/json.js';
import type { JsonObject } from '../../../client/types.js';

/** The JSON merge patch (RFC 7396) that makes one object the other. */
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

/** Reads a JSON object. @throws an Error in words for a person */
export function readObject(text: string): JsonObject {
  const value = parseJson(text);
  if (isObject(value)) return value;
  throw new Error('The user state is a JSON object, such as {"evm": {"chain_id": 1}}');
}
