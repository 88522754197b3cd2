import type { AbiParameter } from 'viem';
import type { JsonValue } from '../../../../core/model/json.js';
import { ownNames } from './return-data.js';

/** Converts a decoded value to JSON. Bigints become decimal strings. */
export function toJson(value: unknown): JsonValue {
  switch (typeof value) {
    case 'bigint':
      return String(value);
    case 'string':
    case 'boolean':
    case 'number':
      return value;
    case 'object':
      if (value === null) return null;
      if (Array.isArray(value)) return value.map(toJson);
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toJson(inner)]));
    default:
      return null;
  }
}

/** Pairs values with the names of their parameters; an unnamed parameter is identified by its index. */
export function fieldsOf<T>(
  parameters: readonly AbiParameter[],
  values: readonly T[],
): readonly (readonly [name: string, value: T])[] {
  return values.map((value, index) => {
    const name = parameters[index]?.name ?? '';
    return [name === '' ? String(index) : name, value];
  });
}

/**
 * Shapes a function's return values: a single one as it is, several as an object if all have distinct names, otherwise
 * as a list.
 */
export function resultOf(outputs: readonly AbiParameter[], values: readonly JsonValue[]): JsonValue {
  if (outputs.length === 1) return values[0] ?? null;
  return ownNames(outputs) === null ? values : Object.fromEntries(fieldsOf(outputs, values));
}
