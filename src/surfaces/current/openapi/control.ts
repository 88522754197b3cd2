import { json } from '../../openapi/answers.js';
import type { Paths } from '../../openapi/document.js';
import { refusals } from '../../openapi/refusals.js';
import { credentials, fields, jsonBody, query } from '../../openapi/requests.js';
import { list, named, text } from '../../openapi/schemas.js';

const tags = ['Models and Apps'];
const app = query('app', 'The App; absent: the last one of the session.', {
  schema: { type: 'string', minLength: 1 },
});

export const controlPaths: Paths = {
  '/api/control/model': {
    post: {
      operationId: 'selectModel',
      summary: 'Select the model of the session',
      description:
        'The selection is stored, and takes effect with the next turn. Under `/api`, while both surfaces are exposed, a request without `rig` but with `session_id` in the query or with `model` is treated as a legacy request.',
      tags,
      security: credentials('required', 'optional'),
      parameters: [
        query('rig', 'The model to switch to.', { required: true, example: 'demo' }),
        query('baml', 'Returned unchanged in the response.'),
        app,
      ],
      requestBody: jsonBody(fields({ rig: text(), baml: text(), app: text() }), {
        required: false,
        description: 'The same fields, used if the query lacks them.',
      }),
      responses: {
        200: json('The model was selected.', named('Selection'), {
          example: { success: true, rig: 'demo', baml: 'demo', created: false },
        }),
        ...refusals('Unauthenticated', 'Forbidden', 'TooLarge'),
      },
    },
  },
  '/api/control/models': {
    get: {
      operationId: 'listModels',
      summary: 'List the models',
      description: 'The first one is the model of the session.',
      tags,
      security: credentials('optional', 'optional'),
      parameters: [
        app,
        query('include', '`names`: the response lists objects with id and name in place of ids.', {
          schema: { type: 'string', pattern: '^names(,names)*$' },
        }),
      ],
      responses: {
        200: json('The ids of the models.', list({ oneOf: [text(), named('NamedRig')] }), {
          example: ['demo'],
        }),
        ...refusals('Unauthenticated', 'Forbidden', 'NotFound'),
      },
    },
  },
  '/api/control/apps': {
    get: {
      operationId: 'listApps',
      summary: 'List the Apps',
      description:
        'Lists `default` and the Apps that the App key covers, with the secret slots that they declare.',
      tags,
      security: credentials('required', 'optional'),
      responses: {
        200: json('The Apps.', list(named('App')), {
          example: [
            { name: 'default' },
            {
              name: 'mycoindex',
              secrets: [{ name: 'API_KEY', description: 'Vendor API key', required: true }],
            },
          ],
        }),
        ...refusals('Unauthenticated'),
      },
    },
  },
};
