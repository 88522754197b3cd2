import { DEFAULT_APP } from '../../core/model/app.js';
import { isJsonObject, type JsonObject } from '../../core/model/json.js';
import { RefusedError } from '../../core/model/refusal.js';
import { patchedUserState } from '../../core/model/user-state.js';
import { parseJson } from '../../http/request/json-budget.js';
import { input } from '../../http/validation/input.js';
import {
  optionalInteger,
  optionalObject,
  optionalText,
  requiredObject,
  requiredText,
  requiredValue,
  withDefault,
  type Param,
} from '../../http/validation/params.js';
import { cursorParams } from '../shared/cursor.js';
import { idempotencyKey } from '../shared/idempotency.js';
import { decodeCursor } from '../shared/page-cursor.js';
import { rigListInclude } from '../shared/rig-list.js';
import { simulationParams } from '../shared/simulation.js';
import { optionalSessionHeader, sessionHeader, sessionPath } from './session-id.js';

// The parameters of each path of the field surface. Those of a POST come from the query or the JSON body.

/** The App, by either of its names. */
const app = {
  app: optionalText('query', 'app'),
  namespace: optionalText('query', 'namespace'),
};
const clientId = optionalText('query', 'client_id');
const requiredClient = requiredText(
  'query',
  'client_id',
  'the id of the client, which is its only protection',
);
const inSession = { sessionId: sessionHeader, clientId };
const ofSession = { sessionId: sessionPath, clientId };
const wallet = optionalText('query', 'public_key');

/** Some clients convert an App object to text. */
const NO_APP = '[object Object]';

/** Returns the App that a request names; undefined: none. */
export function appOf(asked: {
  readonly app: string | undefined;
  readonly namespace: string | undefined;
}): string | undefined {
  const name = asked.app ?? asked.namespace;
  return name === NO_APP ? DEFAULT_APP : name;
}

/** A user state that is ignored unless it is usable. */
const usableUserState: Param<JsonObject | undefined> = {
  ...optionalObject('query', 'user_state'),
  isPlain: () => true,
  typed: usableState,
};

/** `POST /api/sessions`. */
export const createSession = input('fills', { ...inSession, wallet });

/** `GET` and `DELETE /api/sessions/{id}`. */
export const nameSession = input('ignored', ofSession);

/** `POST /api/sessions/{id}/archive` and `/unarchive`. */
export const archiveSession = input('fills', ofSession);

/** `GET /api/sessions`. */
export const listThreads = input('ignored', {
  wallet: requiredText('query', 'public_key', 'the wallet address whose threads are wanted'),
  limit: withDefault(optionalInteger('query', 'limit', { min: 1, max: 1000 }), 1000),
  cursor: optionalText('query', 'cursor', (chain) =>
    chain
      .custom((text: string) => decodeCursor(text) !== undefined)
      .withMessage('cursor must be one that a Link header gave'),
  ),
});

/** `PATCH /api/sessions/{id}`. */
export const renameSession = input('needed', {
  ...ofSession,
  title: requiredText('body', 'title', 'the new title'),
});

/** `GET /api/sessions/{id}/messages`, with pagination. */
export const readMessages = input('ignored', {
  ...ofSession,
  limit: withDefault(optionalInteger('query', 'limit', { min: 1, max: 1000 }), 100),
  before: optionalText('query', 'before', (chain) =>
    chain.isUUID('loose').withMessage('before must be the id of a message').toLowerCase(),
  ),
});

/** `POST /api/chat`. A blank message is not refused. */
export const sendMessage = input('fills', {
  ...inSession,
  message: requiredText('query', 'message', 'the text of the user message'),
  ...app,
  wallet,
  userState: usableUserState,
  idempotencyKey,
});

/** `GET /api/state`. */
export const readState = input('ignored', {
  ...inSession,
  userState: optionalObject('query', 'user_state'),
  tail: optionalInteger('query', 'tail', { min: 0 }),
});

/** `POST /api/system`. In a body, the message may also be a plain object. */
export const reportSystem = input('fills', {
  ...inSession,
  message: requiredValue('query', 'message', 'text, or the JSON of a report {type, payload}', {
    expected: 'given once, as text or as a JSON object',
    read: textOf,
  }),
});

/** `POST /api/simulate`. */
export const simulate = input('fills', {
  sessionId: optionalSessionHeader,
  clientId,
  ...simulationParams('query'),
});

/** `POST /api/interrupt`. */
export const interrupt = input('fills', inSession);

/** `GET /api/updates`. */
export const subscribe = input('ignored', {
  ...inSession,
  include: optionalText('query', 'include', (chain) =>
    chain.matches(/^turns(,turns)*$/).withMessage('include must be: turns'),
  ),
  ...cursorParams,
});

/** `GET /api/events`. */
export const listEvents = input('ignored', {
  ...inSession,
  count: withDefault(optionalInteger('query', 'count', { min: 1, max: 1000 }), 100),
});

/** `POST /api/control/model`. */
export const selectModel = input('fills', {
  ...inSession,
  rig: requiredText('query', 'rig', 'the model to switch to'),
  baml: optionalText('query', 'baml'),
  ...app,
});

/** `GET /api/control/models`. */
export const listModels = input('ignored', {
  sessionId: optionalSessionHeader,
  clientId,
  include: rigListInclude,
  ...app,
});

/** `GET /api/control/apps`. */
export const listApps = input('ignored', inSession);

/** The most bytes of a tool call: of its arguments in the query, and of its body. */
const MAX_CALL_BYTES = 16_384;

/** `POST /api/tools`. Payloads must be small. */
export const invokeTool = {
  ...input('fills', {
    ...inSession,
    name: requiredText('query', 'name', 'the tool to run'),
    args: optionalObject('query', 'args', MAX_CALL_BYTES),
    ...app,
  }),
  maxBytes: MAX_CALL_BYTES,
};

/** `GET /api/tools`. */
export const listTools = input('ignored', { sessionId: optionalSessionHeader, clientId, ...app });

/** `POST /api/secrets`. */
export const storeSecrets = input('fills', {
  sessionId: optionalSessionHeader,
  clientId: requiredClient,
  secrets: requiredObject('query', 'secrets', 'the values by name'),
  ...app,
});

/** `GET /api/secrets`. Without a client, those of the session's client. */
export const listSecrets = input('ignored', { sessionId: optionalSessionHeader, clientId });

/** `DELETE /api/secrets`. */
export const clearSecrets = input('ignored', {
  sessionId: optionalSessionHeader,
  clientId: requiredClient,
  ...app,
});

/** `DELETE /api/secrets/{name}`. */
export const deleteSecret = input('ignored', {
  sessionId: optionalSessionHeader,
  name: requiredText('params', 'name', 'the name of the secret'),
  clientId: requiredClient,
  ...app,
});

/** `GET /api/control/provider-keys`. */
export const listProviderKeys = input('ignored', { sessionId: optionalSessionHeader, clientId });

/** `POST /api/control/provider-keys`. The key has two names. */
export const storeProviderKey = input('fills', {
  sessionId: optionalSessionHeader,
  clientId,
  provider: requiredText('query', 'provider', 'the model provider that the key is for'),
  apiKey: optionalText('query', 'api_key'),
  byokKey: optionalText('query', 'byok_key'),
  label: optionalText('query', 'label'),
});

/** `DELETE /api/control/provider-keys/{provider}`. */
export const deleteProviderKey = input('ignored', {
  sessionId: optionalSessionHeader,
  provider: requiredText('params', 'provider', 'the model provider whose key is to be removed'),
  clientId,
});

/** @throws RefusedError `invalid` when the value is absent */
export function given<T>(value: T | undefined, name: string, purpose: string): T {
  if (value !== undefined) return value;
  const message = `${name} is required: ${purpose}`;
  throw new RefusedError('invalid', message, [{ path: name, message }]);
}

/** Returns a patch of the user state that the core accepts; undefined: the request has none. */
function usableState(given: unknown): JsonObject | undefined {
  try {
    const patch: unknown = typeof given === 'string' ? parseJson(given) : given;
    if (!isJsonObject(patch)) return undefined;
    patchedUserState(null, patch);
    return patch;
  } catch {
    return undefined;
  }
}

function textOf(given: unknown): string | undefined {
  if (typeof given === 'string') return given;
  return isJsonObject(given) ? JSON.stringify(given) : undefined;
}
