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

const DESCRIPTION = `The earlier revision of the API. It shares its sessions with the current surface: a turn that is started on one can be watched, polled
and cancelled on the other.

- \`X-Session-Id\` names a session and creates an unknown one; a \`session_id\` in the query must name one that exists.
- Every \`GET\` path supports \`HEAD\`. On a known path, other methods get 405 with \`Allow\`, and \`OPTIONS\` gets 204 with \`Allow\`.
- Every response, including errors, has \`X-Request-Id\`. Every error has the format \`{error}\`. Under \`/api\`, while both surfaces are exposed, errors of shared
  and of unknown paths also have the other fields of the current surface.`;

/** The OpenAPI document of the legacy surface. */
export function describeLegacy({ version, surfaces }: Deployment): Document {
  const merged = surfaces.length > 1 ? 'All exposed surfaces together.' : 'The same.';
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: SCHEMA_DIALECT,
    info: { title: 'Diptych: the legacy surface', version, description: DESCRIPTION },
    servers: [
      { url: '/legacy', description: 'This surface alone.' },
      { url: '/', description: merged },
    ],
    tags: [
      { name: 'Conversation', description: 'Send messages, read the state and follow the turns.' },
      { name: 'Sessions', description: 'Sessions and their threads.' },
      { name: 'Models and Apps', description: 'The models and Apps that generate replies.' },
      { name: 'Health', description: 'Probes for deployments.' },
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
