import { json } from '../../openapi/answers.js';
import type { Parameter, Paths } from '../../openapi/document.js';
import { refusals } from '../../openapi/refusals.js';
import { credentials, fields, inPath, jsonBody, query } from '../../openapi/requests.js';
import { named, text } from '../../openapi/schemas.js';

const tags = ['Secrets'];
const appName = { type: 'string', minLength: 1 };
const client: Parameter = query('client_id', 'The client. It is all that protects the values.', {
  required: true,
  example: 'k3v9-long-and-random-8d1f',
});
const ofApp = query('app', 'Of this App alone; absent: of all.', { schema: appName });

/** Secrets of clients. */
export const secretPaths: Paths = {
  '/api/secrets': {
    post: {
      operationId: 'storeSecrets',
      summary: 'Store values for the secret slots of an App',
      description:
        'Values are kept encrypted and never come out again. Another App than `default` needs its key. `X-Session-Id`, when it is sent on any of these paths, binds the session to the client.',
      tags,
      security: credentials('optional', 'optional'),
      parameters: [query('app', 'The App; absent: `default`.', { schema: appName })],
      requestBody: jsonBody(
        fields(
          {
            client_id: { type: 'string', minLength: 16, maxLength: 256 },
            secrets: {
              type: 'object',
              description: 'At most 64 names and their values.',
              additionalProperties: { type: 'string', minLength: 1, description: 'At most 8 KiB.' },
            },
            app: text('Where the query lacks it.'),
          },
          ['client_id', 'secrets'],
        ),
        {
          required: true,
          example: { client_id: 'k3v9-long-and-random-8d1f', secrets: { API_KEY: 'vendor-1234567' } },
        },
      ),
      responses: {
        200: json('They are stored.', named('SecretHandles'), {
          example: { handles: { API_KEY: '$SECRET:API_KEY' } },
        }),
        ...refusals('Unauthenticated', 'Forbidden', 'TooLarge'),
      },
    },
    get: {
      operationId: 'listSecrets',
      summary: 'List the names of what is stored',
      tags,
      security: credentials('optional', 'none'),
      parameters: [client, ofApp],
      responses: {
        200: json('Names, never values.', named('SecretNames'), {
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
        200: json('They are gone.', named('Cleared'), { example: { cleared: true } }),
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
      parameters: [inPath('name', 'The secret.', { type: 'string' }), client, ofApp],
      responses: {
        200: json('It is gone.', named('Deleted'), { example: { deleted: true } }),
        ...refusals(),
      },
    },
  },
};
