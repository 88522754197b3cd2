import type { Deployment, Document, Schema } from '../../openapi/document.js';
import { fieldPaths } from './paths.js';
import { sentId } from './session-id.js';

const DESCRIPTION = `The current surface as its published clients use it. It differs in what it accepts and in some responses:

- \`X-Session-Id\` is a UUID, or any other id of 1 to 128 printable characters. An id that is no UUID belongs to the caller's \`client_id\`, else to
  its App key; without either it names no session: its state is empty, its stream is silent, and nothing is stored. Responses show the id that was sent.
- The App key is in \`SERVICE-APP-KEY\`, in \`X-API-Key\`, or in a header that the service is configured to accept.
- The parameters of a \`POST\` are in the query or in a JSON body. \`namespace\` is another name of \`app\`.
- Every \`GET\` path supports \`HEAD\`. On a known path, other methods get 405 with \`Allow\`, and \`OPTIONS\` gets 204 with \`Allow\`.
- Every response, including errors, has \`X-Request-Id\`. Every error has the format \`{error, code, request_id, details?}\`.`;

/** Schemas that only paths and parameters use which the field surface does not have. */
const UNUSED = ['Nonce', 'WalletProof', 'App', 'SecretSlot', 'TurnSummary'];

/** Properties of the current surface's schemas that only a parameter adds which the field surface does not have. */
const ABSENT_PROPERTIES: Readonly<Record<string, readonly string[]>> = {
  Record: ['turn_id'],
  Records: ['turns'],
};

/**
 * The OpenAPI document of the field surface.
 * @param current the document of the current surface, from which it differs
 */
export function describeField({ version, root }: Deployment, current: Document): Document {
  const { components } = current;
  // A session that was deleted since is an empty one.
  const { Gone: _gone, ...responses } = components.responses;
  return {
    ...current,
    info: { title: 'Diptych: the field surface', version, description: DESCRIPTION },
    servers: [
      { url: '/field', description: 'This surface alone.' },
      ...(root === 'field' ? [{ url: '/', description: 'The same.' }] : []),
    ],
    paths: fieldPaths(current.paths),
    components: { ...components, responses, schemas: fieldSchemas(components.schemas) },
  };
}

/** The schemas, with session ids as they were sent, and threads with whether they are archived. */
function fieldSchemas(schemas: Document['components']['schemas']): Document['components']['schemas'] {
  const kept = Object.entries(schemas).filter(([name]) => !UNUSED.includes(name));
  const own = Object.fromEntries(
    kept.map(([name, schema]) => [name, withSentId(without(schema, ABSENT_PROPERTIES[name] ?? []))]),
  );
  return { ...own, ListedThread: listed(own.Thread ?? {}) };
}

function without(schema: Schema, names: readonly string[]): Schema {
  if (names.length === 0 || !isObject(schema.properties)) return schema;
  const kept = Object.entries(schema.properties).filter(([name]) => !names.includes(name));
  return { ...schema, properties: Object.fromEntries(kept) };
}

function withSentId(schema: Schema): Schema {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const ids = ['session_id', 'thread_id'].filter((name) => name in properties);
  if (ids.length === 0) return schema;
  return {
    ...schema,
    properties: { ...properties, ...Object.fromEntries(ids.map((name) => [name, sentId])) },
  };
}

function listed(thread: Schema): Schema {
  const properties = isObject(thread.properties) ? thread.properties : {};
  const required = Array.isArray(thread.required) ? thread.required.map(String) : [];
  return {
    ...thread,
    properties: { ...properties, is_archived: { type: 'boolean' } },
    required: [...required, 'is_archived'],
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
