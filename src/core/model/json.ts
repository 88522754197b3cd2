/** A value that JSON can represent. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** True for a JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the name that a part of a JSON pointer stands for (RFC 6901, section 4). */
export function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** True if a value is nested deeper than `limit` levels. Iterative, so that no depth can exhaust the call stack. */
export function isDeeperThan(value: JsonValue, limit: number): boolean {
  let level: JsonValue[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit) return true;
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
  return false;
}

/** True if a part of a value is a number that JSON cannot represent: `JSON.parse` makes infinity of 1e999. */
export function hasInfinity(value: JsonValue): boolean {
  for (let level: JsonValue[] = [value]; level.length > 0;) {
    if (level.some((item) => typeof item === 'number' && !Number.isFinite(item))) return true;
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
  return false;
}
