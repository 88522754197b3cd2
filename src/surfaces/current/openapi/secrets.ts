import { json } from '../../openapi/answers.js';
import type { Parameter, Paths } from '../../openapi/document.js';
import { refusals } from '../../openapi/refusals.js';
import { credentials, fields, inPath, jsonBody, query } from '../../openapi/requests.js';
import { named, text } from '../../openapi/schemas.js';

const tags = ['Secrets'];
const appName = { type: 'string', minLength: 1 };
const client: Parameter = query(
  'client_id',
  'The id of the client. It is the only protection of the values, so make it long and random.',
  {
    required: true,
    example: 'k3v9-long-and-random-8d1f',
  },
);
const ofApp = query('app', 'The App; absent: all Apps.', { schema: appName });

export const secretPaths: Paths = {
  '/api/secrets': {
    post: {
      operationId: 'storeSecrets',
      summary: 'Store values for the secret slots of an App',
      description:
        'Values are stored encrypted, and no response contains them. Every App except `default` requires its key. On all of these paths, `X-Session-Id` binds the session to the client.',
      tags,
      security: credentials('optional', 'optional'),
      parameters: [query('app', 'The App; absent: `default`.', { schema: appName })],
      requestBody: jsonBody(
        fields(
          {
            client_id: { type: 'string', minLength: 16, maxLength: 256 },
            secrets: {
              type: 'object',
              description: 'At most 64 values by name.',
              additionalProperties: { type: 'string', minLength: 1, description: 'At most 8 KiB.' },
            },
            app: text('Used if the query lacks it.'),
          },
          ['client_id', 'secrets'],
        ),
        {
          required: true,
          example: { client_id: 'k3v9-long-and-random-8d1f', secrets: { API_KEY: 'vendor-1234567' } },
        },
      ),
      responses: {
        200: json('The values were stored.', named('SecretHandles'), {
          example: { handles: { API_KEY: '$SECRET:API_KEY' } },
        }),
        ...refusals('Unauthenticated', 'Forbidden', 'TooLarge'),
      },
    },
    get: {
      operationId: 'listSecrets',
      summary: 'List the names of the stored values',
      tags,
      security: credentials('optional', 'none'),
      parameters: [client, ofApp],
      responses: {
        200: json('The names of the stored values.', named('SecretNames'), {
          example: { by_app: { mycoindex: ['API_KEY'] } },
        }),
        ...refusals(),
      },
    },
    delete: {
      operationId: 'clearSecrets',
      summary: 'Remove all values of a client',
      tags,
      security: credentials('optional', 'none'),
      parameters: [client, ofApp],
      responses: {
        200: json('The values were removed.', named('Cleared'), { example: { cleared: true } }),
        ...refusals(),
      },
    },
  },
  '/api/secrets/{name}': {
    delete: {
      operationId: 'deleteSecret',
      summary: 'Remove one value',
      tags,
      security: credentials('optional', 'none'),
      parameters: [inPath('name', 'The name of the secret.', { type: 'string' }), client, ofApp],
      responses: {
        200: json('The value was removed.', named('Deleted'), { example: { deleted: true } }),
        ...refusals(),
      },
    },
  },
};
