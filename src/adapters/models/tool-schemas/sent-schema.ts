import { setImmediate } from 'node:timers/promises';
import type { JsonObject } from '../../../core/model/json.js';
import type { ToolDescription } from '../../../core/ports/tool.js';
import type { Provider } from '../endpoint.js';
import { googleSchema } from './google-schema.js';
import { objectParts, type ObjectSchema, type PortableSchema } from './portable-schema.js';
import { readSchema } from './read-schema.js';

type SentSchema = JsonObject & { readonly type: 'object' };

/** How the API of each provider differs from the others. */
const FORMS: Record<Provider, (schema: ObjectSchema) => JsonObject> = {
  'openai-compatible': (schema) => schema,
  openai: (schema) => schema,
  anthropic: anthropicSchema,
  google: googleSchema,
};

/** Caches schemas by the schema of the tool, which is the same object as long as the tool is the same. */
const sent: Record<Provider, WeakMap<JsonObject, SentSchema>> = {
  'openai-compatible': new WeakMap(),
  openai: new WeakMap(),
  anthropic: new WeakMap(),
  google: new WeakMap(),
};

/**
 * Returns the schema of a tool's arguments as a provider accepts it: one schema that a provider refuses makes each
 * request of the App fail. The arguments of a call are validated with the tool's own schema.
 */
export function sentSchema(parameters: JsonObject, provider: Provider): SentSchema {
  const known = sent[provider].get(parameters);
  if (known !== undefined) return known;
  const schema: SentSchema = { ...FORMS[provider](readSchema(parameters)), type: 'object' };
  sent[provider].set(parameters, schema);
  return schema;
}

/**
 * Reads the schemas of tools that have not been read for a provider yet, one in each iteration of the event loop: a
 * hostile one takes tens of milliseconds, and a server may have 200.
 * @throws the reason of `signal`
 */
export async function prepareSchemas(
  tools: readonly ToolDescription[],
  provider: Provider,
  signal: AbortSignal,
): Promise<void> {
  for (const { parameters } of tools.filter((tool) => !sent[provider].has(tool.parameters))) {
    sentSchema(parameters, provider);
    await setImmediate();
    signal.throwIfAborted();
  }
}

/** The names of arguments that Anthropic's API takes; those of properties in properties are free. */
const NAME = /^[a-zA-Z0-9_.-]{1,64}$/;

/** Moves arguments with other names to the description: the model can name them although they are not declared. */
function anthropicSchema(schema: ObjectSchema): JsonObject {
  const { properties, required = [], additionalProperties: _, description, ...rest } = schema;
  const pick = (isPlain: boolean): PortableSchema => {
    const isPicked = (name: string): boolean => NAME.test(name) === isPlain;
    const picked = Object.entries(properties).filter(([name]) => isPicked(name));
    return objectParts(new Map(picked), required.filter(isPicked));
  };
  const moved = pick(false);
  if (moved.properties === undefined) return schema;
  const words = `Further arguments: ${JSON.stringify(moved)}`;
  const all = description === undefined ? words : `${description}\n${words}`;
  return { ...rest, properties: {}, ...pick(true), description: all };
}
