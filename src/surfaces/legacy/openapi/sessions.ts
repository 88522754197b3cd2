import { json } from '../../openapi/answers.js';
import type { Paths } from '../../openapi/document.js';
import { refusals } from '../../openapi/refusals.js';
import {
  credentials,
  fields,
  inPath,
  jsonBody,
  query,
  sessionInPath,
  walletProof,
} from '../../openapi/requests.js';
import { named, SESSION_EXAMPLE, text } from '../../openapi/schemas.js';

export const sessionPaths: Paths = {
  '/api/sessions': {
    post: {
      operationId: 'createSession',
      summary: 'Create a session',
      description:
        'Under `/api`, while both surfaces are exposed, the response also has the current field `title`.',
      tags: ['Sessions'],
      security: credentials('required', 'none'),
      responses: {
        200: json('The session.', named('Creation'), {
          example: { session_id: SESSION_EXAMPLE, created: true },
        }),
        ...refusals(),
      },
    },
  },
  '/api/sessions/{id}': {
    get: {
      operationId: 'nameSession',
      summary: 'Read a session and its threads',
      description:
        'Returns at most 10,000 threads: the most recently used ones of the wallet. ' +
        'Under `/api`, while both surfaces are exposed, the response also has the current field `title`.',
      tags: ['Sessions'],
      security: [{}],
      parameters: [sessionInPath, walletProof],
      responses: {
        200: json('The session.', named('Session'), {
          example: {
            session_id: SESSION_EXAMPLE,
            threads: [
              {
                id: SESSION_EXAMPLE,
                title: 'New Chat',
                created_at: '2026-11-20T12:03:57.832Z',
                updated_at: '2026-11-20T12:03:58.257Z',
              },
            ],
          },
        }),
        ...refusals('NotFound'),
      },
    },
  },
};

export const controlPaths: Paths = {
  '/api/control/model': {
    post: {
      operationId: 'selectModel',
      summary: 'Select the model of a session',
      description:
        'Under `/api`, while both surfaces are exposed, the response also has the current fields `rig`, `baml` and `created`.',
      tags: ['Models and Apps'],
      security: credentials('optional', 'none'),
      parameters: [
        query('session_id', 'The UUID of the session, which must exist.', {
          required: true,
          schema: { type: 'string', format: 'uuid' },
        }),
      ],
      requestBody: jsonBody(fields({ model: text('The model to switch to.') }, ['model']), {
        required: true,
        example: { model: 'demo' },
      }),
      responses: {
        200: json('The model was selected.', named('Success'), { example: { success: true } }),
        ...refusals('NotFound', 'TooLarge'),
      },
    },
  },
  '/api/control/{action}': {
    post: {
      operationId: 'refuseAction',
      summary: 'Any other action, which is not found',
      tags: ['Models and Apps'],
      security: [{}],
      parameters: [inPath('action', 'Any word except `model`.', { type: 'string' })],
      responses: refusals('NotFound'),
    },
  },
  '/api/session/models': {
    get: {
      operationId: 'listModels',
      summary: 'List the models',
      tags: ['Models and Apps'],
      security: credentials('optional', 'none'),
      responses: {
        200: json('The models.', named('Models'), {
          example: { models: [{ id: 'demo', name: 'Demo', provider: 'demo' }] },
        }),
        ...refusals(),
      },
    },
  },
  '/api/session/apps': {
    get: {
      operationId: 'listApps',
      summary: 'List the Apps',
      description: 'Lists `default` and the Apps that the App key covers. A request without a key is a 401.',
      tags: ['Models and Apps'],
      security: credentials('optional', 'required'),
      responses: {
        200: json('The Apps.', named('Apps'), { example: { apps: [{ id: 'default', name: 'default' }] } }),
        ...refusals('Unauthenticated'),
      },
    },
  },
};
