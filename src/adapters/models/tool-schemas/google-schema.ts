import type { JsonObject } from '../../../core/model/json.js';
import { isAny, type PortableSchema, type TypeName } from './portable-schema.js';

/** The formats that Google's API takes; it refuses requests with any other one. */
const FORMATS: Partial<Record<TypeName, readonly string[]>> = {
  string: ['date-time'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
};

const PLAIN: readonly PortableSchema[] = [
  { type: 'string' },
  { type: 'number' },
  { type: 'boolean' },
  { type: 'object' },
];
/** Every value but arrays and null in arrays: Google's API requires a type. */
const ANY: PortableSchema = {
  anyOf: [...PLAIN, { type: 'array', items: { anyOf: PLAIN } }, { type: 'null' }],
};

/**
 * Converts a schema to what Google's API takes and its package sends. `anyOf` has nothing beside it there, and `enum`
 * has only non-empty strings.
 */
export function googleSchema(schema: PortableSchema): JsonObject {
  if (isAny(schema)) return googleSchema({ ...ANY, ...schema });
  return schema.anyOf === undefined ? withType(schema) : alternatives(schema.anyOf, schema.description);
}

/** The first alternative takes the description of all, and null if one of them does. */
function alternatives(members: readonly PortableSchema[], description: string | undefined): JsonObject {
  const [first = {}, ...others] = members.filter(({ type }) => type !== 'null');
  const isNullable = others.length + 1 < members.length;
  const taken = withType({ ...first, ...describe(description, first.description) }, isNullable);
  return others.length === 0 ? taken : { anyOf: [taken, ...others.map((member) => withType(member))] };
}

function withType(schema: PortableSchema, isNullable = false): JsonObject {
  const { type = 'null', properties, required, items, format, minLength, enum: values = [] } = schema;
  const isList = values.length > 0 && values.every((value) => typeof value === 'string' && value !== '');
  const listed = values.map((value) => JSON.stringify(value)).join(', ');
  const hint = listed === '' || isList ? undefined : `One of ${listed}.`;
  return {
    type: isNullable ? [type, 'null'] : type,
    ...describe(schema.description, hint),
    ...(isList && { enum: isNullable ? [...values, null] : values }),
    ...(typeof format === 'string' && FORMATS[type]?.includes(format) === true && { format }),
    ...(minLength !== undefined && { minLength }),
    ...(items !== undefined && { items: googleSchema(items) }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, googleSchema(property)]),
      ),
    }),
    ...(required !== undefined && { required }),
  };
}

function describe(...words: readonly (string | undefined)[]): { readonly description?: string } {
  const description = words.filter((text) => text !== undefined && text !== '').join(' ');
  return description === '' ? {} : { description };
}
