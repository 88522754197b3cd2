import { headers } from '../../openapi/answers.js';
import { SCHEMA_DIALECT, type Deployment, type Document } from '../../openapi/document.js';
import { healthPaths } from '../../openapi/health.js';
import { refusalAnswers } from '../../openapi/refusals.js';
import { securitySchemes } from '../../openapi/requests.js';
import { named } from '../../openapi/schemas.js';
import { chatPaths } from './chat.js';
import { controlPaths } from './control.js';
import { schemas } from './schemas.js';
import { providerKeyPaths } from './provider-keys.js';
import { secretPaths } from './secrets.js';
import { sessionPaths } from './sessions.js';
import { toolPaths } from './tools.js';
import { walletPaths } from './wallet.js';
import { walletRequestPaths } from './wallet-requests.js';

const DESCRIPTION = `A client generates a UUID, sends it as \`X-Session-Id\`, and talks to the assistant in that session.

- An unknown session is created by the first request that names it, except on \`/api/sessions/{id}\`.
- Every \`GET\` path supports \`HEAD\`. On a known path, other methods get 405 with \`Allow\`, and \`OPTIONS\` gets 204 with \`Allow\`.
- Unknown query parameters are ignored. A repeated parameter is a 400.
- Every response, including errors, has \`X-Request-Id\`. Every error has the format \`{error, code, request_id, details?}\`.`;

/** The OpenAPI document of the current surface. */
export function describeCurrent({ version, surfaces }: Deployment): Document {
  const merged = surfaces.length > 1 ? 'All exposed surfaces together.' : 'The same.';
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: SCHEMA_DIALECT,
    info: { title: 'Diptych: the current surface', version, description: DESCRIPTION },
    servers: [
      { url: '/current', description: 'This surface alone.' },
      { url: '/', description: merged },
    ],
    tags: [
      { name: 'Conversation', description: 'Send messages, read the state and follow the turns.' },
      { name: 'Sessions', description: 'Sessions, their threads and the persisted messages.' },
      { name: 'Models and Apps', description: 'The models and Apps that generate replies.' },
      { name: 'Tools', description: 'Tools that the assistant and the client can call.' },
      { name: 'Secrets', description: 'Values that tools need. No response contains them.' },
      { name: 'Wallets', description: 'Wallets that sign transactions and messages, and their sign-in.' },
      { name: 'Health', description: 'Probes for deployments.' },
    ],
    paths: {
      ...chatPaths,
      ...sessionPaths,
      ...controlPaths,
      ...providerKeyPaths,
      ...toolPaths,
      ...secretPaths,
      ...walletPaths,
      ...walletRequestPaths,
      ...healthPaths({ ownBase: true }),
    },
    components: {
      schemas,
      responses: refusalAnswers((codes) => ({
        allOf: [named('Error'), { properties: { code: { enum: codes } } }],
      })),
      headers,
      securitySchemes: securitySchemes('SERVICE-APP-KEY'),
    },
  };
}
