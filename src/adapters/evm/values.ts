import type { AbiParameter } from 'viem';
import type { JsonValue } from '../../core/json.js';

/** A decoded value as JSON: integers that JSON cannot carry exactly become decimal strings. */
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

/** Values beside the names of their parameters; one without a name goes by its place. */
export function fieldsOf(
  parameters: readonly AbiParameter[],
  values: readonly unknown[],
): readonly (readonly [name: string, value: unknown])[] {
  return values.map((value, index) => {
    const name = parameters[index]?.name ?? '';
    return [name === '' ? String(index) : name, value];
  });
}

/** What a function returned: the value itself, or, when there are several, an object where all have names, else a list. */
export function resultOf(outputs: readonly AbiParameter[], result: unknown): JsonValue {
  if (outputs.length < 2 || !Array.isArray(result)) return toJson(result);
  const hasNames = outputs.every(({ name }) => name !== undefined && name !== '');
  return hasNames ? toJson(Object.fromEntries(fieldsOf(outputs, result))) : toJson(result);
}
