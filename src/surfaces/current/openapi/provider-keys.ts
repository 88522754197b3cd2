import { json } from '../../openapi/answers.js';
import type { Paths } from '../../openapi/document.js';
import { refusals } from '../../openapi/refusals.js';
import { credentials, fields, inPath, jsonBody, query } from '../../openapi/requests.js';
import { named, text } from '../../openapi/schemas.js';

const tags = ['Models and Apps'];
const client = query(
  'client_id',
  'The id of the client. Absent: the client that the session of `X-Session-Id` is bound to.',
  { example: 'k3v9-long-and-random-8d1f' },
);
const required = query('client_id', 'The id of the client. `POST` takes it in the body, too.', {
  required: true,
  example: 'k3v9-long-and-random-8d1f',
});
const key = { provider: 'openai', key_prefix: 'sk-proj', label: 'team', is_active: true };

export const providerKeyPaths: Paths = {
  '/api/control/provider-keys': {
    get: {
      operationId: 'listProviderKeys',
      summary: "List a client's keys for model providers",
      tags,
      security: credentials('optional', 'none'),
      parameters: [client],
      responses: {
        200: json('The keys, without the keys themselves.', named('ProviderKeys'), {
          example: { provider_keys: [key], byok_keys: [key] },
        }),
        ...refusals(),
      },
    },
    post: {
      operationId: 'storeProviderKey',
      summary: "Store a client's own key for a model provider",
      description:
        "The turns of this client on models of this provider use the key in place of the service's own, at the address that the service has configured. A later key replaces an earlier one. With `X-Session-Id`, the session is bound to the client.",
      tags,
      security: credentials('optional', 'none'),
      parameters: [required],
      requestBody: jsonBody(
        fields(
          {
            provider: text('`openai`, `anthropic`, `google` or `openai-compatible`.'),
            api_key: { type: 'string', minLength: 8, maxLength: 4096, description: 'Printable ASCII.' },
            byok_key: { type: 'string', description: 'Another name of `api_key`.' },
            label: { type: 'string', maxLength: 100, description: 'A name for people.' },
            client_id: text('Used if the query lacks it. 16 to 256 characters.'),
          },
          ['provider'],
        ),
        {
          required: true,
          example: {
            provider: 'openai',
            api_key: 'sk-proj-0123456789abcdef',
            label: 'team',
            client_id: 'k3v9-long-and-random-8d1f',
          },
        },
      ),
      responses: {
        200: json('The key was stored.', named('StoredProviderKey'), { example: { key } }),
        ...refusals('TooLarge'),
      },
    },
  },
  '/api/control/provider-keys/{provider}': {
    delete: {
      operationId: 'deleteProviderKey',
      summary: "Remove a client's key for a model provider",
      tags,
      security: credentials('optional', 'none'),
      parameters: [inPath('provider', 'The provider.', { type: 'string' }), required],
      responses: {
        200: json('The key was removed.', named('Deleted'), { example: { deleted: true } }),
        ...refusals(),
      },
    },
  },
};
