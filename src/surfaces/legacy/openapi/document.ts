import { headers } from '../../openapi/answers.js';
import { SCHEMA_DIALECT, type Deployment, type Document } from '../../openapi/document.js';
import { healthPaths } from '../../openapi/health.js';
import { refusalAnswers } from '../../openapi/refusals.js';
import { securitySchemes } from '../../openapi/requests.js';
import { named } from '../../openapi/schemas.js';
import { controlPaths, sessionPaths } from './sessions.js';
import { noticed, noticeHeaders, withNotice } from './notice.js';
import { schemas } from './schemas.js';
import { threadPaths } from './thread.js';

const DESCRIPTION = `The earlier revision of the API. Its sessions are those of the current surface: what is started on one can be watched, polled
and stopped on the other.

- \`X-Session-Id\` names a session and creates an unknown one; a \`session_id\` in the query must name one that exists.
- \`GET\` answers \`HEAD\` too. A known path answers other methods with 405 and \`Allow\`, and \`OPTIONS\` with 204 and \`Allow\`.
- Every answer, errors too, has \`X-Request-Id\`. Every error is \`{error}\`; under \`/api\`, while both surfaces are exposed, those of paths that belong to
  both, and of unknown ones, have the further fields of the current surface.`;

/** The OpenAPI document of the legacy surface. */
export function describeLegacy({ version, surfaces }: Deployment): Document {
  const merged = surfaces.length > 1 ? 'This surface and the others together.' : 'The same.';
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: SCHEMA_DIALECT,
    info: { title: 'Diptych: the legacy surface', version, description: DESCRIPTION },
    servers: [
      { url: '/legacy', description: 'This surface alone.' },
      { url: '/', description: merged },
    ],
    tags: [
      { name: 'Conversation', description: 'Send messages and follow what comes of them.' },
      { name: 'Sessions', description: 'Sessions and their threads.' },
      { name: 'Models and Apps', description: 'What answers.' },
      { name: 'Health', description: 'For deployments.' },
    ],
    paths: {
      ...withNotice({ ...threadPaths, ...sessionPaths, ...controlPaths }),
      ...healthPaths({ ownBase: false }),
    },
    components: {
      schemas,
      responses: noticed(refusalAnswers(() => named('Error'), ['Gone'])),
      headers: { ...headers, ...noticeHeaders },
      securitySchemes: securitySchemes('X-API-Key'),
    },
  };
}
