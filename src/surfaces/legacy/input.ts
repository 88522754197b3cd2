import { DEFAULT_APP } from '../../core/model/app.js';
import { input } from '../../http/validation/input.js';
import { optionalHeader, optionalText, requiredText, withDefault } from '../../http/validation/params.js';
import { cursorParams } from '../shared/cursor.js';
import { idempotencyKey } from '../shared/idempotency.js';
import {
  optionalSessionHeader,
  optionalSessionQuery,
  sessionHeader,
  sessionPath,
  sessionQuery,
} from '../shared/session.js';

// The parameters of each path of the legacy surface.

/** The App key. Only the core checks it. */
const appKey = optionalHeader('X-API-Key');

const app = optionalText('query-only', 'app');

const isSaid = (value: string): boolean => value.trim() !== '';
const text = requiredText(
  'body',
  'text',
  'the text of the user message',
  (chain) => chain.custom(isSaid).withMessage('text must not be blank'),
  isSaid,
);

/** `POST /api/sessions`. */
export const createSession = input('ignored', { sessionId: sessionHeader });

/** `GET /api/sessions/{id}`. */
export const nameSession = input('ignored', { sessionId: sessionPath });

/** `POST /api/thread/chat`. */
export const sendMessage = input('needed', {
  sessionId: sessionHeader,
  text,
  app: withDefault(app, DEFAULT_APP),
  clientId: optionalText('query-only', 'client_id'),
  appKey,
  idempotencyKey,
});

/** `GET /api/thread/state` and `POST /api/thread/interrupt`. */
export const querySession = input('ignored', { sessionId: sessionQuery, byHeader: optionalSessionHeader });

/** `GET /api/thread/updates`. */
export const subscribe = input('ignored', {
  byHeader: optionalSessionHeader,
  byQuery: optionalSessionQuery,
  ...cursorParams,
});

/** `POST /api/control/model`. */
export const selectModel = input('needed', {
  sessionId: sessionQuery,
  byHeader: optionalSessionHeader,
  model: requiredText('body', 'model', 'the model to switch to'),
});

/** `GET /api/session/models`. */
export const listModels = input('ignored', { sessionId: optionalSessionHeader });

/** `GET /api/session/apps`. */
export const listApps = input('ignored', { sessionId: optionalSessionHeader, appKey });
