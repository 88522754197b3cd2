import type { JsonObject, JsonValue } from './types.js';

/** The value, or undefined when the text is not JSON. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJson(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What a parser of JSON gives is JSON. */
function isJson(value: unknown): value is JsonValue {
  return value !== undefined;
}

/** Whether a value is an object of JSON: no list, not null. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects of an array; none of what is no array. */
export function objectsIn(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** A field that should be text; empty when it is not. */
export function textOf(object: JsonObject, name: string): string {
  const value = object[name];
  return typeof value === 'string' ? value : '';
}
