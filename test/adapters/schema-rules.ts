import { Ajv2020 } from 'ajv/dist/2020.js';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/core/model/json.js';

/** The rules of providers for the schema of a tool's arguments, as their refusals state them. */

const ajv = new Ajv2020({ strict: false, logger: false });
const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
const NOT_AT_TOP = ['anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not'];
const NOWHERE = ['$schema', '$ref', '$defs', 'definitions', 'oneOf', 'allOf', 'const', 'patternProperties'];

/** What OpenAI refuses, and many servers with OpenAI's API. */
export function openAiProblems(schema: JsonObject): string[] {
  const isValid = ajv.validateSchema(schema) === true;
  return [
    ...(isValid ? [] : ['JSON schema is invalid. It must match JSON Schema draft 2020-12']),
    ...(schema.type === 'object' ? [] : ["schema must have type 'object'"]),
    ...(isJsonObject(schema.properties) ? [] : ['object schema missing properties']),
    ...NOT_AT_TOP.filter((key) => key in schema).map((key) => `'${key}' at the top level`),
    ...schemasIn(schema).flatMap(([path, inner]) =>
      nodeProblems(inner).map((problem) => `${path}: ${problem}`),
    ),
  ];
}

export function anthropicProblems(schema: JsonObject): string[] {
  const names = isJsonObject(schema.properties) ? Object.keys(schema.properties) : [];
  const wrong = names.filter((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name));
  return [...openAiProblems(schema), ...wrong.map((name) => `Property keys should match pattern: ${name}`)];
}

function nodeProblems(schema: JsonObject): string[] {
  const { type, items, enum: values, pattern, anyOf, required, properties } = schema;
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  return [
    ...NOWHERE.filter((key) => Object.hasOwn(schema, key)).map((key) => `'${key}' is not permitted`),
    ...(type === undefined || TYPES.some((known) => known === type) ? [] : ['type must be one name']),
    ...(type !== 'array' || isJsonObject(items) ? [] : ['array schema missing items']),
    ...(type === 'array' || items === undefined ? [] : ['items of no array']),
    ...(anyOf === undefined || type === undefined ? [] : ['type beside anyOf']),
    ...(type === 'object' || (required ?? properties) === undefined ? [] : ['properties of no object']),
    ...listOf(required).flatMap((name) =>
      names.some((known) => known === name) ? [] : ['required[0]: not defined'],
    ),
    ...(Array.isArray(values) && values.some((value: JsonValue) => typeof value === 'object')
      ? ['enum']
      : []),
    ...(typeof pattern === 'string' && /\(\?[^:]|\\[pPuk]/.test(pattern) ? ['pattern is not a regex'] : []),
  ];
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  const list: readonly JsonValue[] = Array.isArray(value) ? value : [];
  return list;
}

/** The schemas in a schema, at any depth, with their paths. */
export function schemasIn(schema: JsonObject, path = '$'): [string, JsonObject][] {
  const { properties, items, anyOf, additionalProperties } = schema;
  const inner = [
    ...Object.entries(isJsonObject(properties) ? properties : {}),
    ...Object.entries({ items, additionalProperties }),
    ...listOf(anyOf).entries(),
  ];
  return [
    [path, schema],
    ...inner.flatMap(([key, value]) =>
      isJsonObject(value) ? schemasIn(value, `${path}.${String(key)}`) : [],
    ),
  ];
}

/** What the package sends to Google for the schema of a tool; undefined: a tool without parameters. */
export async function sentToGoogle(inputSchema: JsonObject): Promise<JsonObject | undefined> {
  let sent = '';
  const model = createGoogleGenerativeAI({
    apiKey: 'k',
    fetch: (_, init) => {
      if (typeof init?.body === 'string') sent = init.body;
      return Promise.resolve(new Response('', { headers: { 'content-type': 'text/event-stream' } }));
    },
  })('gemini-2.5-flash');
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hi' }] }];
  const { stream } = await model.doStream({ prompt, tools: [{ type: 'function', name: 'x', inputSchema }] });
  await stream.cancel();
  const { tools } = JSON.parse(sent) as { tools: { functionDeclarations: { parameters?: JsonObject }[] }[] };
  return tools[0]?.functionDeclarations[0]?.parameters;
}

const GOOGLE_FORMATS = ['date-time', 'float', 'double', 'int32', 'int64'];
/** The fields of a `Schema` that the package sends. */
const GOOGLE_FIELDS = [
  ...['type', 'description', 'nullable', 'enum', 'format', 'minLength', 'items', 'properties', 'required'],
  'anyOf',
];

/** What Google's API refuses in the parameters of a function declaration. */
export function googleProblems(schema: JsonObject, path = 'parameters'): string[] {
  const { type, enum: values, format, items, properties, required, anyOf } = schema;
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  const problems = [
    ...Object.keys(schema)
      .filter((key) => !GOOGLE_FIELDS.includes(key))
      .map((key) => `Unknown name "${key}"`),
    ...((type === undefined) === (anyOf !== undefined)
      ? []
      : ['type must be specified when not using any_of']),
    ...(type === undefined || TYPES.some((known) => known === type) ? [] : ['type: cannot start list']),
    ...(anyOf === undefined || Object.keys(schema).length === 1 ? [] : ['fields alongside any_of']),
    ...(anyOf === undefined || listOf(anyOf).length > 0 ? [] : ['any_of: empty']),
    ...((type === 'array') === (items !== undefined) ? [] : ['items: missing field, or no ARRAY']),
    ...(type === 'object' || (required ?? properties) === undefined ? [] : ['only allowed for OBJECT type']),
    ...listOf(required).flatMap((name) =>
      names.some((known) => known === name) ? [] : ['property is not defined'],
    ),
    ...(values === undefined || type === 'string' ? [] : ['enum: only allowed for STRING type']),
    ...listOf(values).flatMap((value) =>
      typeof value === 'string' && value !== '' ? [] : ['enum: cannot be empty'],
    ),
    ...(format === undefined || GOOGLE_FORMATS.some((known) => known === format)
      ? []
      : ['format: unsupported']),
  ];
  const inner = [
    ...Object.entries(isJsonObject(properties) ? properties : {}),
    ...(items === undefined ? [] : [['items', items] as const]),
    ...listOf(anyOf).entries(),
  ];
  return [
    ...problems.map((problem) => `${path}: ${problem}`),
    ...inner.flatMap(([key, value]) =>
      isJsonObject(value)
        ? googleProblems(value, `${path}.${String(key)}`)
        : [`${path}.${String(key)}: no schema`],
    ),
  ];
}
