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

/** True if a value is nested deeper than `limit` levels. */
export function isDeeperThan(value: JsonValue, limit: number): boolean {
  let depth = 0;
  for (const _ of levelsOf(value)) if (depth++ > limit) return true;
  return false;
}

/** True if a part of a value is a number that JSON cannot represent: `JSON.parse` makes infinity of 1e999. */
export function hasInfinity(value: JsonValue): boolean {
  for (const level of levelsOf(value))
    if (level.some((item) => typeof item === 'number' && !Number.isFinite(item))) return true;
  return false;
}

/** Yields the parts of a value, level by level. Iterative, so that no depth can exhaust the call stack. */
function* levelsOf(value: JsonValue): Generator<readonly JsonValue[]> {
  for (let level: JsonValue[] = [value]; level.length > 0;) {
    yield level;
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
}
