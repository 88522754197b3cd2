import { json } from '../../openapi/answers.js';
import type {
  Operation,
  OperationMethod,
  Parameter,
  PathItem,
  Paths,
  Schema,
} from '../../openapi/document.js';
import { refusals } from '../../openapi/refusals.js';
import { credentials, fields, inPath, jsonBody, query } from '../../openapi/requests.js';
import { list, named, SESSION_EXAMPLE, text } from '../../openapi/schemas.js';

const METHODS = ['get', 'post', 'patch', 'delete'] as const satisfies readonly OperationMethod[];

/** Paths of the current surface that the field surface does not have. */
const ABSENT = ['/api/wallet/nonce', '/api/wallet/proof', '/api/sessions/{id}/branch'];

/** Query parameters of the current surface that the field surface ignores, by operation. */
const IGNORED: Readonly<Record<string, readonly string[]>> = { readMessages: ['include'] };

/** Operations that name no session. */
const SESSIONLESS = ['listThreads', 'readHealth', 'readHealthWord', 'readAccount', 'readSettings'];
const MODELS = { tags: ['Models and Apps'], security: [{}] };

const sessionInPath = inPath('id', 'The id of the session.', {
  type: 'string',
  minLength: 1,
  maxLength: 128,
});
const clientId = query('client_id', 'The client. A session id that is no UUID belongs to it.');
const namespace = query('namespace', 'Another name of `app`, used if that is absent.');

const owner = query('client_id', 'The client. Absent: the client that the session is bound to.');

/** Query parameters that the current surface takes from the body alone, or requires. */
const FROM_BODY: Readonly<Record<string, readonly Parameter[]>> = {
  reportSystem: [],
  invokeTool: [query('name', 'The name of the tool.', { required: true }), encoded('args', 'The arguments.')],
  storeSecrets: [
    query('client_id', 'The client, which is the only protection of the values.', { required: true }),
    { ...encoded('secrets', 'The values by name.'), required: true },
  ],
  storeProviderKey: [
    query('provider', 'The provider of the key.', { required: true }),
    query('api_key', 'The key.'),
    query('byok_key', 'Another name of `api_key`.'),
    query('label', 'A name for people.'),
    owner,
  ],
  deleteProviderKey: [owner],
  simulate: [
    {
      ...{ name: 'transactions', in: 'query', required: true },
      description: 'The transactions to simulate, in order. A JSON list.',
      content: { 'application/json': { schema: { type: 'array', minItems: 1, maxItems: 32 } } },
    },
    query('from', 'The sender. Absent: the wallet of the session.'),
    query('chain_id', 'The chain.', { schema: { type: ['integer', 'string'] } }),
  ],
};

const anonymous: Operation = {
  operationId: 'readAccount',
  summary: 'Read the account',
  description: 'The service has no accounts. Clients take the 401 for an anonymous user.',
  ...MODELS,
  responses: refusals('Unauthenticated'),
};

/** Returns the paths of the field surface, from those of the current one. */
export function fieldPaths(current: Paths): Paths {
  const kept = Object.entries(current).filter(([path]) => !ABSENT.includes(path));
  return {
    ...Object.fromEntries(kept.map(([path, item]) => [path, fieldItem(item)])),
    '/api/account': { get: anonymous },
    '/api/settings/account': { get: { ...anonymous, operationId: 'readSettings' } },
  };
}

function fieldItem(item: PathItem): PathItem {
  const operations = METHODS.flatMap((method) => {
    const operation = item[method];
    return operation === undefined ? [] : [[method, fieldOperation(method, operation)] as const];
  });
  return { ...item, ...Object.fromEntries(operations) };
}

function fieldOperation(method: OperationMethod, operation: Operation): Operation {
  const { operationId } = operation;
  const parameters = parametersOf(operation);
  const changed = { ...operation, ...(parameters.length > 0 && { parameters }) };
  const hasBody = method === 'post' || operation.requestBody !== undefined;
  const body = hasBody ? bodyOf(operation, parameters) : undefined;
  return {
    ...changed,
    ...(body !== undefined && { requestBody: body }),
    ...OVERRIDES[operationId]?.(changed),
  };
}

function parametersOf({ operationId, parameters = [] }: Operation): readonly Parameter[] {
  const own = parameters
    .filter(({ name }) => name !== 'X-Wallet-Proof' && IGNORED[operationId]?.includes(name) !== true)
    .map((one) => (one.in === 'path' && one.name === 'id' ? sessionInPath : one));
  const moved = FROM_BODY[operationId] ?? [];
  const replaced = own.filter(({ name }) => !moved.some((one) => one.name === name));
  const all = [...replaced, ...moved];
  const has = (name: string) => all.some((one) => one.name === name);
  return [
    ...all,
    ...(has('app') ? [namespace] : []),
    ...(has('client_id') || SESSIONLESS.includes(operationId) ? [] : [clientId]),
  ];
}

/** The body of a request: every parameter of the query, and what has no form in a query. */
function bodyOf({ requestBody }: Operation, parameters: readonly Parameter[]): Operation['requestBody'] {
  const media = requestBody?.content['application/json'];
  const described: unknown = media?.schema.properties;
  const given: Readonly<Record<string, Schema>> = isProperties(described) ? described : {};
  const queried = parameters.filter((one) => one.in === 'query');
  const shared = queried.map((one): [string, Schema] => {
    return [one.name, given[one.name] ?? { description: one.description }];
  });
  const properties = { ...given, ...Object.fromEntries(shared) };
  const needed = media?.schema.required;
  const required = (Array.isArray(needed) ? needed.map(String) : []).filter(
    (name) => !queried.some((one) => one.name === name),
  );
  return jsonBody(fields(properties, required), {
    required: required.length > 0,
    description: 'Fields that are also query parameters are used if the query lacks them.',
    ...(media?.example !== undefined && { example: media.example }),
  });
}

type Override = (operation: Operation) => Partial<Operation>;

/** The responses of a session that may be deleted, or that the id does not name: empty instead of a 404. */
const neverMissing: Override = ({ responses }) => {
  const { 404: _missing, 410: _gone, ...rest } = responses;
  return { responses: rest };
};

const OVERRIDES: Readonly<Record<string, Override | undefined>> = {
  sendMessage: (operation) => ({
    ...neverMissing(operation),
    summary: 'Send a message',
    description:
      'Stores the message, queues its turn and responds immediately. A blank message changes nothing. An unusable `user_state` is ignored.',
    responses: optionalTurn(operation.responses),
  }),
  readState: (operation) => ({
    ...neverMissing(operation),
    description:
      'Suited for polling. `client_id` binds the session to the client. A deleted session is empty.',
  }),
  interrupt: neverMissing,
  subscribe: (operation) => ({
    ...neverMissing(operation),
    description: `${operation.description ?? ''} Tools that report no progress have no events. An idle stream may be closed after 20 seconds, unless it is the last one that
the client's address has opened.`,
  }),
  listThreads: ({ responses }) => ({
    security: [{}],
    responses: {
      ...responses,
      200: json('The threads.', list(named('ListedThread')), {
        example: [{ session_id: SESSION_EXAMPLE, title: 'New Chat', is_archived: false }],
        headers: {
          Link: {
            description: 'The URL of the next page, if there is one.',
            schema: { type: 'string', pattern: '^<[^>]+>; rel="next"$' },
          },
        },
      }),
    },
  }),
  getSession: ({ responses }) => ({
    description: 'Ignores `X-Session-Id`.',
    responses: {
      ...responses,
      200: json('The session.', named('ListedThread'), {
        example: { session_id: SESSION_EXAMPLE, title: 'New Chat', is_archived: false },
      }),
    },
  }),
  createSession: () => ({
    description: 'Leaves an existing session unchanged, except that it binds the given wallet.',
  }),
  selectModel: () => ({ description: 'The selection is stored, and takes effect with the next turn.' }),
  listApps: ({ responses }) => ({
    description: 'Lists `default` and the Apps that the App key covers.',
    responses: { ...responses, 200: json('The names of the Apps.', list(text()), { example: ['default'] }) },
  }),
  simulate: () => ({ security: credentials('optional', 'none') }),
  listSecrets: ({ parameters = [] }) => ({
    description: 'Without `client_id`: those of the client that the session is bound to.',
    parameters: parameters
      .filter(({ name }) => name !== 'client_id' && name !== 'app' && name !== 'namespace')
      .concat(clientId),
  }),
};

/** The id of a turn is absent where no message was stored. */
function optionalTurn(responses: Operation['responses']): Operation['responses'] {
  const { 404: _missing, 410: _gone, ...rest } = responses;
  const ok = responses['200'];
  if (ok === undefined || '$ref' in ok) return rest;
  const turn = ok.headers?.['X-Turn-Id'];
  if (turn === undefined || '$ref' in turn) return rest;
  return { ...rest, 200: { ...ok, headers: { ...ok.headers, 'X-Turn-Id': { ...turn, required: false } } } };
}

function encoded(name: string, description: string): Parameter {
  const content = { 'application/json': { schema: { type: ['object', 'null'] } } };
  return { name, in: 'query', required: false, description: `${description} A JSON object.`, content };
}

function isProperties(value: unknown): value is Readonly<Record<string, Schema>> {
  return typeof value === 'object' && value !== null;
}
