import { headers } from '../../openapi/answers.js';
import { SCHEMA_DIALECT, type Deployment, type Document } from '../../openapi/document.js';
import { healthPaths } from '../../openapi/health.js';
import { refusalAnswers } from '../../openapi/refusals.js';
import { securitySchemes } from '../../openapi/requests.js';
import { named } from '../../openapi/schemas.js';
import { chatPaths } from './chat.js';
import { controlPaths } from './control.js';
import { schemas } from './schemas.js';
import { secretPaths } from './secrets.js';
import { sessionPaths } from './sessions.js';
import { toolPaths } from './tools.js';
import { walletPaths } from './wallet.js';

const DESCRIPTION = `A client makes a UUID, sends it as \`X-Session-Id\`, and talks to the assistant in that session.

- An unknown session is created by the first request that names it, except on \`/api/sessions/{id}\`.
- \`GET\` answers \`HEAD\` too. A known path answers other methods with 405 and \`Allow\`, and \`OPTIONS\` with 204 and \`Allow\`.
- Unknown query parameters are ignored; a name that is given twice is a 400.
- Every answer, errors too, has \`X-Request-Id\`. Every error is \`{error, code, request_id, details?}\`.`;

/** The OpenAPI document of the current surface. */
export function describeCurrent({ version, surfaces }: Deployment): Document {
  const merged = surfaces.length > 1 ? 'This surface and the others together.' : 'The same.';
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: SCHEMA_DIALECT,
    info: { title: 'Diptych: the current surface', version, description: DESCRIPTION },
    servers: [
      { url: '/current', description: 'This surface alone.' },
      { url: '/', description: merged },
    ],
    tags: [
      { name: 'Conversation', description: 'Send messages and follow what comes of them.' },
      { name: 'Sessions', description: 'Sessions, their threads and the persisted messages.' },
      { name: 'Models and Apps', description: 'What answers.' },
      { name: 'Tools', description: 'What the assistant, and a client, can call.' },
      { name: 'Secrets', description: 'Values that tools need. They go in and never come out.' },
      { name: 'Wallets', description: 'Wallets that sign in, where the service asks for it.' },
      { name: 'Health', description: 'For deployments.' },
    ],
    paths: {
      ...chatPaths,
      ...sessionPaths,
      ...controlPaths,
      ...toolPaths,
      ...secretPaths,
      ...walletPaths,
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
