import {
  isDeeperThan,
  isJsonObject,
  unescapePointer,
  type JsonObject,
  type JsonValue,
} from '../../../core/model/json.js';
import {
  intersectionOf,
  objectParts,
  TYPES,
  unionOf,
  type ObjectSchema,
  type PortableSchema,
  type TypeName,
} from './portable-schema.js';

/** How deep schemas are read: less deep if the result would be larger than `MAX_SIZE`, because references repeat. */
const DEPTHS = [32, 8, 3];
/** About the length of a schema in JSON, in characters: every request has the schemas of all tools. */
const MAX_SIZE = 131_072;
/** What each schema counts besides its own keywords, so that there are at most a thousand. */
const SCHEMA_SIZE = 128;
const MAX_EXAMPLE_DEPTH = 8;
/** A property of this name would be lost in the provider packages, and its request refused. */
const UNSAFE_NAME = '__proto__';

/** The keywords that constrain one type and hold no schemas. */
const NUMBER = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'format'];
const KEYWORDS: Record<TypeName, readonly string[]> = {
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: NUMBER,
  integer: NUMBER,
  array: ['minItems', 'maxItems', 'uniqueItems'],
  object: [],
  boolean: [],
  null: [],
};

/** The type of a schema that names none, by its keywords. */
const IMPLIED: readonly (readonly [TypeName, readonly string[]])[] = [
  ['object', ['properties', 'required', 'additionalProperties', 'patternProperties']],
  ['array', ['items', 'prefixItems', ...KEYWORDS.array]],
  ['string', ['minLength', 'maxLength', 'pattern']],
  ['number', NUMBER.filter((keyword) => keyword !== 'format')],
];

/**
 * Converts the schema of a tool's arguments to the form that model providers have in common. The result allows every
 * object that the schema allows, and may allow more. Reads hostile schemas, too: work and size are bounded, and it
 * never throws.
 */
export function readSchema(schema: JsonObject): ObjectSchema {
  for (const depth of DEPTHS) {
    try {
      const read = new SchemaReader(schema).read(schema, { depth, within: [schema] });
      return { properties: {}, ...intersectionOf([{ type: 'object' }, read]), type: 'object' };
    } catch (error) {
      if (!(error instanceof TooLargeError)) throw error;
    }
  }
  return { type: 'object', properties: {} };
}

class TooLargeError extends Error {
  override readonly name = 'TooLargeError';
}

interface Place {
  /** How many levels may follow. */
  readonly depth: number;
  /** The schemas whose references lead here: a reference to one of them is not followed again. */
  readonly within: readonly JsonObject[];
}

class SchemaReader {
  #left = MAX_SIZE;

  constructor(private readonly root: JsonObject) {}

  /** @throws TooLargeError */
  read(schema: JsonValue, place: Place): PortableSchema {
    this.#spend(1);
    if (!isJsonObject(schema)) return {};
    // A schema with an `$id` of its own is a document of its own, to which its references are relative.
    const isForeign = schema !== this.root && typeof schema.$id === 'string';
    if (place.depth === 0 || isForeign) return this.#own(schema, undefined);
    const inner = { ...place, depth: place.depth - 1 };
    const unions = [listOf(schema.anyOf), listOf(schema.oneOf)].filter((members) => members.length > 0);
    const parts = [
      this.#own(schema, inner),
      ...(typeof schema.$ref === 'string' ? [this.#referenced(schema.$ref, inner)] : []),
      ...listOf(schema.allOf).map((member) => this.read(member, inner)),
      ...unions.map((members) =>
        unionOf(members.filter((member) => member !== false).map((member) => this.read(member, inner))),
      ),
    ];
    return intersectionOf(parts);
  }

  /** Reads a reference within the document. Any other one allows every value: nothing is ever fetched. */
  #referenced(reference: string, place: Place): PortableSchema {
    const target = resolve(this.root, reference);
    if (target === undefined) return {};
    if (place.within.includes(target)) return this.#own(target, undefined);
    return this.read(target, { ...place, within: [...place.within, target] });
  }

  /**
   * Reads what a schema says itself.
   * @param inner undefined: without the schemas in it
   */
  #own(schema: JsonObject, inner: Place | undefined): PortableSchema {
    const annotations = annotationsIn(schema);
    const values = valuesIn(schema);
    this.#spend(SCHEMA_SIZE + JSON.stringify(annotations).length + (values?.length ?? 0));
    const types = typesOf(schema, values);
    const alternatives = types.flatMap((type) => {
      const allowed = values?.filter((value) => isOfType(value, type));
      return allowed?.length === 0 ? [] : [this.#ofType(type, schema, { allowed, inner })];
    });
    return { ...unionOf(alternatives), ...annotations };
  }

  #ofType(
    type: TypeName,
    schema: JsonObject,
    {
      allowed,
      inner,
    }: { readonly allowed: readonly JsonValue[] | undefined; readonly inner: Place | undefined },
  ): PortableSchema {
    const values = allowed?.filter((value) => typeof value !== 'object') ?? [];
    const limits = KEYWORDS[type].flatMap((keyword) => {
      const value = schema[keyword];
      return isLimit(keyword, value) ? [[keyword, value] as const] : [];
    });
    const own = {
      type,
      ...Object.fromEntries(limits),
      ...(values.length > 0 && { enum: [...new Set(values)] }),
    };
    this.#spend(JSON.stringify(own).length);
    if (type === 'array') return { ...own, items: inner === undefined ? {} : this.#items(schema, inner) };
    return type === 'object' && inner !== undefined ? { ...own, ...this.#object(schema, inner) } : own;
  }

  #object(schema: JsonObject, inner: Place): PortableSchema {
    const { properties, required, patternProperties, additionalProperties: others = true } = schema;
    const listed = isJsonObject(properties) ? Object.entries(properties) : [];
    const read = new Map<string, PortableSchema>();
    for (const [name, value] of listed) {
      this.#spend(name.length);
      if (value !== false && name !== UNSAFE_NAME) read.set(name, this.read(value, inner));
    }
    const names = listOf(required).flatMap((name) =>
      typeof name === 'string' && name !== UNSAFE_NAME ? [name] : [],
    );
    this.#spend(names.join('').length + names.length);
    // Without its patterns, a schema would refuse the properties that they allow.
    const hasPatterns = isJsonObject(patternProperties) && Object.keys(patternProperties).length > 0;
    if (hasPatterns || others === true) return objectParts(read, names);
    const additionalProperties = others === false ? false : this.read(others, inner);
    return { ...objectParts(read, names), additionalProperties };
  }

  /** Reads the schema of an array's elements. In a tuple, each may be like any of those that the schema lists. */
  #items({ items, prefixItems, additionalItems }: JsonObject, inner: Place): PortableSchema {
    const tuple = Array.isArray(items) ? listOf(items) : listOf(prefixItems);
    const others = Array.isArray(items) ? additionalItems : items;
    if (tuple.length === 0) return this.read(others ?? true, inner);
    const members = isJsonObject(others) ? [...tuple, others] : tuple;
    return unionOf(members.map((member) => this.read(member, inner)));
  }

  #spend(size: number): void {
    this.#left -= size;
    if (this.#left < 0) throw new TooLargeError();
  }
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  const list: readonly JsonValue[] = Array.isArray(value) ? value : [];
  return list;
}

function annotationsIn({ title, description, default: usual, examples }: JsonObject): PortableSchema {
  const isShown = (value: JsonValue | undefined): value is JsonValue =>
    value !== undefined && !isDeeperThan(value, MAX_EXAMPLE_DEPTH);
  return {
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
    ...(isShown(usual) && { default: usual }),
    ...(Array.isArray(examples) && isShown(examples) && { examples }),
  };
}

/** The values that a schema lists. */
function valuesIn(schema: JsonObject): readonly JsonValue[] | undefined {
  if (schema.const !== undefined) return [schema.const];
  const values = listOf(schema.enum);
  return values.length > 0 ? values : undefined;
}

/** The types that a schema allows; none: it does not say. */
function typesOf(schema: JsonObject, values: readonly JsonValue[] | undefined): readonly TypeName[] {
  const named = [schema.type].flat().flatMap((name) => TYPES.find((type) => type === name) ?? []);
  if (named.length > 0) return schema.nullable === true ? [...new Set([...named, 'null' as const])] : named;
  if (values !== undefined)
    return TYPES.filter((type) => type !== 'integer' && values.some((value) => isOfType(value, type)));
  const implied = IMPLIED.find(([, keywords]) => keywords.some((keyword) => schema[keyword] !== undefined));
  return implied === undefined ? [] : [implied[0]];
}

function isOfType(value: JsonValue, type: TypeName): boolean {
  if (value === null) return type === 'null';
  if (Array.isArray(value)) return type === 'array';
  return type === 'integer' ? Number.isInteger(value) : typeof value === type;
}

function isLimit(keyword: string, value: JsonValue | undefined): value is JsonValue {
  if (keyword === 'pattern') return typeof value === 'string' && isPlainPattern(value);
  return (
    typeof value === (keyword === 'format' ? 'string' : keyword === 'uniqueItems' ? 'boolean' : 'number')
  );
}

const MAX_PATTERN = 200;

/** True for a pattern that means the same in every engine: providers refuse those that their own does not compile. */
function isPlainPattern(pattern: string): boolean {
  if (pattern.length > MAX_PATTERN) return false;
  if (!/^(?:[^\\(]|\\[dDwWsS^$.*+?()[\]{}|/\\]|\((?:\?:|(?!\?)))*$/u.test(pattern)) return false;
  try {
    new RegExp(pattern, 'u');
    return true;
  } catch {
    return false;
  }
}

const MAX_REFERENCE = 1_000;

/** Finds the schema that a JSON pointer in a fragment refers to (RFC 6901). */
function resolve(root: JsonObject, reference: string): JsonObject | undefined {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined;
  if (reference.length > MAX_REFERENCE) return undefined;
  let found: JsonValue | undefined = root;
  for (const part of reference.split('/').slice(1)) {
    const name = unescapePart(part);
    if (name === undefined) return undefined;
    if (Array.isArray(found)) found = listOf(found)[Number(name)];
    else found = isJsonObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return isJsonObject(found) ? found : undefined;
}

function unescapePart(part: string): string | undefined {
  try {
    return unescapePointer(decodeURIComponent(part));
  } catch {
    return undefined;
  }
}
