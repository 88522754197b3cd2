import type { JsonObject } from '../../../core/model/json.js';

export const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const;
export type TypeName = (typeof TYPES)[number];

/**
 * A JSON Schema in the form that model providers have in common. It has either one `type`, or `anyOf` with nothing but
 * annotations beside it, or neither: then it allows every value. The members of `anyOf` have a `type`. References are
 * resolved, arrays have `items`, and the `required` properties are among the `properties`.
 */
export interface PortableSchema extends JsonObject {
  readonly type?: TypeName;
  readonly anyOf?: readonly PortableSchema[];
  readonly properties?: Readonly<Record<string, PortableSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false | PortableSchema;
  readonly items?: PortableSchema;
  /** Only of strings, numbers and booleans. */
  readonly enum?: readonly (string | number | boolean)[];
  readonly description?: string;
}

/** The schema of a tool's arguments. */
export interface ObjectSchema extends PortableSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, PortableSchema>>;
}

/** True for a schema that allows every value. */
export function isAny({ type, anyOf }: PortableSchema): boolean {
  return type === undefined && anyOf === undefined;
}

const ANNOTATIONS = ['title', 'description', 'default', 'examples'];

function annotationsOf(schema: PortableSchema): PortableSchema {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => ANNOTATIONS.includes(keyword)));
}

/** Returns a schema for the values that at least one of the members allows. */
export function unionOf(members: readonly PortableSchema[]): PortableSchema {
  const plain = members.flatMap((member): readonly PortableSchema[] => member.anyOf ?? [member]);
  if (plain.some(isAny)) return {};
  const [first = {}] = plain;
  if (plain.length < 2) return first;
  // Values without a word about each become one list.
  const isList = (member: PortableSchema): boolean =>
    member.enum !== undefined && Object.keys(member).length === 2;
  const groups = groupBy(plain, (member) =>
    member.type === 'null' ? 'null' : isList(member) ? `values ${member.type}` : JSON.stringify(member),
  );
  const distinct = [...groups].flatMap(([key, [member = {}, ...twins]]) => {
    if (key === 'null') return [{ type: 'null' as const }];
    if (twins.length === 0 || !isList(member)) return [member];
    return [{ ...member, enum: [...new Set([member, ...twins].flatMap(({ enum: values = [] }) => values))] }];
  });
  return distinct.length > 1 ? { anyOf: distinct } : (distinct[0] ?? {});
}

/**
 * Returns a schema for the values that all schemas allow. It may allow more: keywords that cannot be combined are those
 * of the first. Halves the list, so that the work does not grow with its square.
 */
export function intersectionOf(schemas: readonly PortableSchema[]): PortableSchema {
  const [one = {}, other] = schemas;
  if (other === undefined) return one;
  if (schemas.length === 2) return bothOf(one, other);
  const half = schemas.length >> 1;
  return bothOf(intersectionOf(schemas.slice(0, half)), intersectionOf(schemas.slice(half)));
}

function bothOf(one: PortableSchema, other: PortableSchema): PortableSchema {
  const annotations = { ...annotationsOf(other), ...annotationsOf(one) };
  return { ...constraintsOfBoth(one, other), ...annotations };
}

function constraintsOfBoth(one: PortableSchema, other: PortableSchema): PortableSchema {
  if (isAny(one)) return other;
  if (isAny(other)) return one;
  if (one.anyOf !== undefined) return other.anyOf !== undefined ? one : narrow(other, one.anyOf);
  if (other.anyOf !== undefined) return narrow(one, other.anyOf);
  if (one.type === other.type) return { ...other, ...one, ...partsOfBoth(one, other) };
  return one.type === 'number' && other.type === 'integer' ? other : one;
}

/** The keywords of two schemas of the same type that hold schemas or names. */
function partsOfBoth(one: PortableSchema, other: PortableSchema): PortableSchema {
  if (one.type === 'array') return { items: bothOf(one.items ?? {}, other.items ?? {}) };
  if (one.type !== 'object') return {};
  const properties = new Map(Object.entries(other.properties ?? {}));
  for (const [name, schema] of Object.entries(one.properties ?? {})) {
    properties.set(name, bothOf(schema, properties.get(name) ?? {}));
  }
  return objectParts(properties, [...(one.required ?? []), ...(other.required ?? [])]);
}

/** Returns a schema for the values of `base` that one of the alternatives allows. */
function narrow(base: PortableSchema, alternatives: readonly PortableSchema[]): PortableSchema {
  const isNumber = base.type === 'number' || base.type === 'integer';
  const fitting = alternatives.filter(
    ({ type }) => type === base.type || (isNumber && (type === 'number' || type === 'integer')),
  );
  if (fitting.length === 0 || base.type === 'array' || base.enum !== undefined) return base;
  return base.type === 'object' ? fold(base, fitting) : unionOf(fitting);
}

/**
 * Merges alternatives into the object schema that they refine: providers refuse them beside other keywords, and at the
 * top. A property that only some of them list has their schemas, although the others allow any value for it.
 */
function fold(base: PortableSchema, alternatives: readonly PortableSchema[]): PortableSchema {
  const properties = new Map(Object.entries(base.properties ?? {}));
  const found = groupBy(
    alternatives.flatMap((alternative) => Object.entries(alternative.properties ?? {})),
    ([name]) => name,
  );
  for (const [name, entries] of found) {
    const schemas = entries.map(([, schema]) => schema);
    const known = properties.get(name);
    if (known === undefined) properties.set(name, unionOf(schemas));
    else if (schemas.length === alternatives.length) {
      properties.set(name, bothOf(known, unionOf(schemas)));
    }
  }
  const required = alternatives.map((alternative) => new Set(alternative.required));
  const inAll = [...(required[0] ?? [])].filter((name) => required.every((names) => names.has(name)));
  const isClosed = alternatives.every(({ additionalProperties }) => additionalProperties === false);
  return {
    ...(isClosed && { additionalProperties: false }),
    ...base,
    ...objectParts(properties, [...(base.required ?? []), ...inAll]),
  };
}

/** The properties of an object schema. A required property that has no schema gets one for every value. */
export function objectParts(
  properties: ReadonlyMap<string, PortableSchema>,
  required: readonly string[],
): PortableSchema {
  const missing = required.filter((name) => !properties.has(name)).map((name) => [name, {}] as const);
  const all = [...properties, ...missing];
  return {
    ...(all.length > 0 && { properties: Object.fromEntries(all) }),
    ...(required.length > 0 && { required: [...new Set(required)] }),
  };
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
