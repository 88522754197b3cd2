import fc from 'fast-check';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/core/model/json.js';

/** How a schema spells tuples and definitions. */
export type Draft = '7' | '2020';

const words = fc.constantFrom('a', 'b', 'ab', 'word', '2024-01-01', '');
const numbers = fc.constantFrom(-1, 0, 1, 2, 2.5, 100);
const scalars = fc.oneof(words, numbers, fc.boolean(), fc.constant(null));

function some(
  shape: Record<string, fc.Arbitrary<unknown>>,
  required: string[] = [],
): fc.Arbitrary<JsonObject> {
  return fc.record(shape, { requiredKeys: required }) as fc.Arbitrary<JsonObject>;
}

const notes = some({ title: words, description: words, default: scalars });

function noted(schema: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> {
  return fc.tuple(schema, notes).map(([one, other]) => ({ ...one, ...other }));
}

const leaf = fc.oneof(
  some(
    {
      type: fc.constant('string'),
      minLength: fc.constantFrom(0, 1),
      format: fc.constantFrom('uri', 'date-time', 'email'),
      pattern: fc.constantFrom('^[a-z]*$', '^(?!x)', '^\\p{L}*$', '[\\w-.]*', ''),
    },
    ['type'],
  ),
  some(
    {
      type: fc.constantFrom('number', 'integer'),
      minimum: fc.constantFrom(-1, 0),
      exclusiveMaximum: fc.constant(101),
      format: fc.constantFrom('int64', 'double', 'uint8'),
    },
    ['type'],
  ),
  some({ type: fc.constantFrom('boolean', 'null') }, ['type']),
  some({ type: fc.subarray(['string', 'number', 'boolean', 'null', 'array', 'object'], { minLength: 1 }) }, [
    'type',
  ]),
  some({ enum: fc.uniqueArray(scalars, { minLength: 1, maxLength: 4 }) }, ['enum']),
  some({ enum: fc.constantFrom([{ a: 1 }], [[1], 'a'], ['a', 'b']) }, ['enum']),
  some({ type: fc.constant('string'), enum: fc.uniqueArray(words, { minLength: 1 }) }, ['type', 'enum']),
  some({ const: scalars }, ['const']),
  some({ type: fc.constant('array'), maxItems: fc.constant(3) }, ['type']),
  some({ type: fc.constant('object'), additionalProperties: fc.boolean() }, ['type']),
  some({ $ref: fc.constantFrom('#/$defs/one', '#/$defs/two', '#') }, ['$ref']),
  fc.constant({}),
);

/** A schema with at most `depth` levels below it. The names of its own properties begin with `prefix`. */
function schema(depth: number, draft: Draft, prefix = ''): fc.Arbitrary<JsonObject> {
  if (depth === 0) return noted(leaf);
  const inner = schema(depth - 1, draft);
  const lists = (shape: 'anyOf' | 'oneOf' | 'allOf') =>
    fc
      .nat({ max: 2 })
      .chain((last) =>
        fc.tuple(
          ...Array.from({ length: last + 1 }, (_, n) =>
            schema(depth - 1, draft, `${prefix}${shape}${String(n)}`),
          ),
        ),
      )
      .map((members) => ({ [shape]: members }));
  const tuple = fc.array(inner, { minLength: 1, maxLength: 3 }).map((members) => ({
    type: 'array',
    ...(draft === '7' ? { items: members } : { prefixItems: members }),
    maxItems: members.length,
  }));
  return noted(
    fc.oneof(
      leaf,
      object(depth, draft, prefix),
      fc
        .tuple(object(depth, draft, prefix), refinement(depth, draft, prefix))
        .map(([one, other]) => ({ ...one, ...other })),
      inner.map((items) => ({ type: 'array', items })),
      tuple,
      lists('anyOf'),
      lists('oneOf'),
      lists('allOf'),
    ),
  );
}

function object(depth: number, draft: Draft, prefix: string): fc.Arbitrary<JsonObject> {
  const names = ['a', 'b', 'c$', 'kind'].map((name) => prefix + name);
  return fc
    .tuple(
      fc.subarray(names),
      fc.array(schema(depth - 1, draft), { minLength: 4, maxLength: 4 }),
      fc.subarray(names),
      fc.oneof(
        fc.constant({}),
        fc.constant({ additionalProperties: false }),
        schema(0, draft).map((additionalProperties) => ({ additionalProperties })),
      ),
    )
    .map(([listed, schemas, required, others]) => ({
      type: 'object',
      properties: Object.fromEntries(listed.map((name, n) => [name, schemas[n] ?? {}])),
      ...(required.length > 0 && {
        required:
          'additionalProperties' in others ? required.filter((name) => listed.includes(name)) : required,
      }),
      ...others,
    }));
}

/** Alternatives beside the properties of an object. */
function refinement(depth: number, draft: Draft, prefix: string): fc.Arbitrary<JsonObject> {
  const alternative = (n: number) =>
    fc.oneof(
      fc.subarray([`${prefix}a`, `${prefix}b`], { minLength: 1 }).map((required) => ({ required })),
      fc.constant({
        properties: { [`${prefix}kind`]: { const: `kind ${String(n)}` } },
        required: [`${prefix}kind`],
      }),
      schema(depth - 1, draft).map((inner) => ({ properties: { [`${prefix}only${String(n)}`]: inner } })),
    );
  return fc
    .tuple(
      fc.constantFrom('anyOf', 'oneOf'),
      fc.tuple(alternative(0), alternative(1), alternative(2)),
      fc.nat({ max: 2 }),
    )
    .map(([keyword, alternatives, last]) => ({ [keyword]: alternatives.slice(0, last + 1) }));
}

/** The schema of a tool's arguments. */
export function toolSchema(depth = 3): fc.Arbitrary<JsonObject> {
  const drafts: Draft[] = ['7', '2020'];
  return fc
    .constantFrom(...drafts)
    .chain((draft) =>
      fc
        .tuple(
          fc.oneof(object(depth, draft, ''), schema(depth, draft)),
          fc.oneof(fc.constant({}), refinement(depth, draft, '')),
          fc.tuple(schema(depth - 1, draft, 'one'), schema(depth - 1, draft, 'two')),
        )
        .map(([own, other, [one, two]]) => ({ ...own, ...other, type: 'object', $defs: { one, two } })),
    );
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  const list: readonly JsonValue[] = Array.isArray(value) ? value : [];
  return list;
}

/** The schema that a reference means, of those that `toolSchema` makes. */
function referenced(root: JsonObject, reference: JsonValue | undefined): JsonValue {
  if (reference === '#') return root;
  const name = typeof reference === 'string' ? reference.split('/').at(-1) : undefined;
  return isJsonObject(root.$defs) && name !== undefined ? (root.$defs[name] ?? {}) : {};
}

/** Makes a value that a schema may allow. */
export function sample(root: JsonObject, pick: (below: number) => number): JsonValue {
  const oneOf = <T>(list: readonly T[]): T | undefined => list[pick(list.length)];

  /** The schema with one of its alternatives chosen, and its references resolved. */
  function chosen(given: JsonValue, depth: number): JsonObject {
    if (!isJsonObject(given) || depth < 0) return {};
    const { anyOf, oneOf: exclusive, allOf, $ref, ...own } = given;
    const parts = [
      referenced(root, $ref),
      ...listOf(allOf),
      oneOf(listOf(anyOf)) ?? {},
      oneOf(listOf(exclusive)) ?? {},
    ];
    return parts.map((part) => chosen(part, depth - 1)).reduce(merge, own);
  }

  function merge(one: JsonObject, other: JsonObject): JsonObject {
    const properties = {
      ...(isJsonObject(one.properties) && one.properties),
      ...(isJsonObject(other.properties) && other.properties),
    };
    const required = [...listOf(one.required), ...listOf(other.required)];
    return { ...one, ...other, properties, required };
  }

  function valueOf(given: JsonValue, depth: number): JsonValue {
    if (depth < 0) return null;
    const {
      type,
      const: only,
      enum: values,
      properties,
      required,
      items,
      prefixItems,
      minLength,
    } = chosen(given, 4);
    if (only !== undefined) return only;
    if (values !== undefined) return oneOf(listOf(values)) ?? null;
    const types = [type ?? ['string', 'object', 'number', 'boolean', 'null']].flat();
    switch (oneOf(types)) {
      case 'string':
        return minLength === undefined ? (oneOf(['', 'a', 'word']) ?? '') : 'a';
      case 'number':
      case 'integer':
        return pick(3);
      case 'boolean':
        return pick(2) === 1;
      case 'array': {
        const tuple = listOf(Array.isArray(items) ? items : prefixItems);
        if (tuple.length > 0) return tuple.map((item) => valueOf(item, depth - 1));
        return depth <= 0
          ? []
          : Array.from({ length: pick(3) }, () => valueOf(items ?? { type: 'string' }, depth - 1));
      }
      case 'object': {
        const needed = listOf(required);
        const listed = Object.entries(isJsonObject(properties) ? properties : {});
        const taken = listed.filter(([name]) => needed.includes(name) || (depth > 0 && pick(2) === 1));
        const unlisted = needed
          .filter((name) => typeof name === 'string')
          .map((name) => [name, 'a'] as const);
        return Object.fromEntries([
          ...unlisted,
          ...taken.map(([name, property]) => [name, valueOf(property, depth - 1)] as const),
        ]);
      }
      default:
        return null;
    }
  }

  return valueOf(root, 4);
}

/**
 * Forbids in each alternative the properties that only others list. An open alternative allows any value for them, which
 * is not what its author means.
 */
export function exclusive(root: JsonObject): JsonObject {
  function namesIn(schema: JsonValue, depth = 4): readonly string[] {
    if (!isJsonObject(schema) || depth < 0) return [];
    const { properties, anyOf, oneOf, allOf, $ref } = schema;
    const parts = [referenced(root, $ref), ...listOf(anyOf), ...listOf(oneOf), ...listOf(allOf)];
    return [
      ...Object.keys(isJsonObject(properties) ? properties : {}),
      ...parts.flatMap((part) => namesIn(part, depth - 1)),
    ];
  }

  function convert(value: JsonValue): JsonValue {
    if (Array.isArray(value)) return listOf(value).map(convert);
    if (!isJsonObject(value)) return value;
    const inner = Object.entries(value).map(([key, item]) => {
      if (key !== 'anyOf' && key !== 'oneOf') return [key, convert(item)] as const;
      const all = listOf(item).flatMap((member) => namesIn(member));
      const members = listOf(item).map((member) => {
        const own = namesIn(member);
        const others = all.filter((name) => !own.includes(name)).map((name) => [name, false] as const);
        return { allOf: [convert(member)], properties: Object.fromEntries(others) };
      });
      return [key, members] as const;
    });
    return Object.fromEntries(inner);
  }

  const converted = convert(root);
  return isJsonObject(converted) ? converted : root;
}
