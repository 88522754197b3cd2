import type { JsonObject, JsonValue } from '../../client/types.js';

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
  let value: JsonValue;
  try {
    value = parse(text);
  } catch (error) {
    throw new Error(`This is not JSON: ${error instanceof Error ? error.message : 'it cannot be read'}`, {
      cause: error,
    });
  }
  if (!isObject(value)) throw new Error('The user state is a JSON object, such as {"evm": {"chain_id": 1}}');
  return value;
}

function parse(text: string): JsonValue {
  const value: JsonValue = JSON.parse(text);
  return value;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
