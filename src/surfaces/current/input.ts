import { DEFAULT_APP } from '../../core/model/app.js';
import { input } from '../../http/validation/input.js';
import {
  optionalHeader,
  optionalInteger,
  optionalObject,
  optionalText,
  requiredObject,
  requiredText,
  withDefault,
} from '../../http/validation/params.js';
import { cursorParams } from '../shared/cursor.js';
import { idempotencyKey } from '../shared/idempotency.js';
import { rigListInclude } from '../shared/rig-list.js';
import { optionalSessionHeader, sessionHeader, sessionPath } from '../shared/session.js';
import { simulationParams } from '../shared/simulation.js';
import { decodeCursor } from '../shared/page-cursor.js';

const app = optionalText('query', 'app');
const clientId = optionalText('query', 'client_id');
const userState = optionalObject('query', 'user_state');
const isSaid = (text: string): boolean => text.trim() !== '';
const message = requiredText(
  'query',
  'message',
  'the text of the user message',
  (chain) => chain.custom(isSaid).withMessage('message must not be blank'),
  isSaid,
);
const include = optionalText('query', 'include', (chain) =>
  chain.matches(/^turns(,turns)*$/).withMessage('include must be: turns'),
);
const cursor = optionalText('query', 'cursor', (chain) =>
  chain
    .custom((text: string) => decodeCursor(text) !== undefined)
    .withMessage('cursor must be one that a Link header gave'),
);

/** The App key. Only the core checks it. */
const appKey = optionalHeader('SERVICE-APP-KEY');

/** `POST /api/sessions`. */
export const createSession = input('documented', {
  sessionId: sessionHeader,
  wallet: optionalText('query', 'public_key'),
});

/** A signed sign-in message (EIP-4361). */
export const proveWallet = input('needed', {
  message: requiredText('body', 'message', 'the sign-in message, as it was signed'),
  signature: requiredText('body', 'signature', 'the signature of the message, in hex'),
});

/** `GET` and `DELETE /api/sessions/{id}`, and the archiving of a session. */
export const nameSession = input('ignored', { sessionId: sessionPath });

/** `GET /api/sessions`. */
export const listThreads = input('ignored', {
  sessionId: sessionHeader,
  wallet: requiredText('query', 'public_key', 'the wallet address whose threads are wanted'),
  limit: withDefault(optionalInteger('query', 'limit', { min: 1, max: 1000 }), 1000),
  cursor,
});

/** `PATCH /api/sessions/{id}`. */
export const renameSession = input('needed', {
  sessionId: sessionPath,
  title: requiredText('body', 'title', 'the new title'),
});

const beforeMessage = optionalText('query', 'before', (chain) =>
  chain.isUUID('loose').withMessage('before must be the id of a message').toLowerCase(),
);

/** `POST /api/sessions/{id}/branch`. */
export const branchSession = input('documented', {
  sessionId: sessionPath,
  before: beforeMessage,
  idempotencyKey,
});

/** `GET /api/sessions/{id}/messages`, with pagination. */
export const readMessages = input('ignored', {
  sessionId: sessionPath,
  limit: withDefault(optionalInteger('query', 'limit', { min: 1, max: 1000 }), 100),
  before: beforeMessage,
  include,
});

/** `POST /api/chat`. */
export const sendMessage = input('fills', {
  sessionId: sessionHeader,
  message,
  app: withDefault(app, DEFAULT_APP),
  wallet: optionalText('query', 'public_key'),
  userState,
  clientId,
  appKey,
  idempotencyKey,
});

/** `GET /api/state`. `client_id` is accepted without effect, because reading the state runs no tools. */
export const readState = input('ignored', {
  sessionId: sessionHeader,
  userState,
  clientId,
  tail: optionalInteger('query', 'tail', { min: 0 }),
});

/** `POST /api/system`. */
export const reportSystem = input('fills', {
  sessionId: sessionHeader,
  message: requiredText(
    'query',
    'message',
    'text, or the JSON of a report {type, payload}',
    (chain) => chain.custom(isSaid).withMessage('message must not be blank'),
    isSaid,
  ),
});

/** `POST /api/simulate`. */
export const simulate = input('needed', { sessionId: sessionHeader, ...simulationParams('body') });

/** `POST /api/interrupt`. */
export const interrupt = input('ignored', { sessionId: sessionHeader });

/** `GET /api/updates`. */
export const subscribe = input('ignored', { sessionId: sessionHeader, include, ...cursorParams });

/** `GET /api/events`: system events that were already sent. */
export const listEvents = input('ignored', {
  sessionId: sessionHeader,
  count: withDefault(optionalInteger('query', 'count', { min: 1, max: 1000 }), 100),
});

/** `POST /api/control/model`. */
export const selectModel = input('fills', {
  sessionId: sessionHeader,
  rig: requiredText('query', 'rig', 'the model to switch to'),
  baml: optionalText('query', 'baml'),
  app,
  appKey,
});

/** `GET /api/control/models`. */
export const listModels = input('ignored', {
  sessionId: optionalSessionHeader,
  app,
  appKey,
  include: rigListInclude,
});

/** `GET /api/control/apps`. */
export const listApps = input('ignored', { sessionId: sessionHeader, appKey });

/** `POST /api/tools`. Payloads must be small. */
export const invokeTool = {
  ...input('needed', {
    sessionId: sessionHeader,
    name: requiredText(
      'body',
      'name',
      'the tool to run',
      (chain) => chain.custom(isSaid).withMessage('name must name a tool'),
      isSaid,
    ),
    args: optionalObject('body', 'args'),
    app,
    clientId,
    appKey,
  }),
  maxBytes: 16_384,
};

/** `GET /api/tools`. */
export const listTools = input('ignored', { sessionId: optionalSessionHeader, app, appKey });

const requiredClient = requiredText('query', 'client_id', 'the client whose secrets are meant');

/** `POST /api/secrets`. */
export const storeSecrets = input('needed', {
  sessionId: optionalSessionHeader,
  clientId: requiredText('body', 'client_id', 'the client that the secrets belong to'),
  values: requiredObject('body', 'secrets', 'an object of names and values'),
  app,
  appKey,
});

/** `GET` and `DELETE /api/secrets`. */
export const clientSecrets = input('ignored', {
  sessionId: optionalSessionHeader,
  clientId: requiredClient,
  app,
});

/** `DELETE /api/secrets/{name}`. */
export const oneSecret = input('ignored', {
  sessionId: optionalSessionHeader,
  name: requiredText('params', 'name', 'the secret to remove'),
  clientId: requiredClient,
  app,
});

/** `GET /api/control/provider-keys`. */
export const listProviderKeys = input('ignored', { sessionId: optionalSessionHeader, clientId });

/**
 * `POST /api/control/provider-keys`. The key is read from the body alone, because URLs are logged on their way. The
 * client is required: a caller that has only a session id must not replace the key with which the client's prompts are
 * sent.
 */
export const storeProviderKey = input('needed', {
  sessionId: optionalSessionHeader,
  clientId: requiredText('query', 'client_id', 'the client that the key belongs to'),
  provider: requiredText('body', 'provider', 'the model provider that the key is for'),
  apiKey: optionalText('body', 'api_key'),
  byokKey: optionalText('body', 'byok_key'),
  label: optionalText('body', 'label'),
});

/** `DELETE /api/control/provider-keys/{provider}`. */
export const deleteProviderKey = input('ignored', {
  sessionId: optionalSessionHeader,
  provider: requiredText('params', 'provider', 'the model provider whose key is to be removed'),
  clientId: requiredText('query', 'client_id', 'the client whose key is to be removed'),
});
