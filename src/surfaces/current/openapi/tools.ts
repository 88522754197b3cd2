import { json } from '../../openapi/answers.js';
import type { Paths } from '../../openapi/document.js';
import { refusals } from '../../openapi/refusals.js';
import { credentials, fields, jsonBody, query } from '../../openapi/requests.js';
import { map, named, text } from '../../openapi/schemas.js';

const tags = ['Tools'];
const app = (description: string) => query('app', description, { schema: { type: 'string', minLength: 1 } });

/** Tools. */
export const toolPaths: Paths = {
  '/api/tools': {
    get: {
      operationId: 'listTools',
      summary: 'List the tools of an App',
      tags,
      security: credentials('optional', 'optional'),
      parameters: [app('The App; absent: `default`.')],
      responses: {
        200: json('The tools.', named('Tools'), {
          example: {
            tools: [
              {
                name: 'calculate',
                description: 'Works out an expression.',
                parameters: { type: 'object', properties: { expression: { type: 'string' } } },
              },
            ],
          },
        }),
        ...refusals('Unauthenticated', 'Forbidden'),
      },
    },
    post: {
      operationId: 'invokeTool',
      summary: 'Call a tool',
      description:
        'Small, explicit payloads of at most 16 KiB without private keys or seeds: those are refused. The call is announced on `/api/updates`.',
      tags,
      security: credentials('required', 'optional'),
      parameters: [
        app('The App; absent: the last one of the session.'),
        query('client_id', 'The client whose secrets the tool may use.'),
      ],
      requestBody: jsonBody(
        fields(
          {
            name: text('The tool.'),
            args: { ...map(true), type: ['object', 'null'], description: 'What its schema asks for.' },
            app: text('Where the query lacks it.'),
            client_id: text('Where the query lacks it.'),
          },
          ['name'],
        ),
        { required: true, example: { name: 'calculate', args: { expression: '12*(3+4)' } } },
      ),
      responses: {
        200: json('What came of it: a `result`, or the tool’s own failure as `error`.', named('Invocation'), {
          example: {
            call_id: '01a1f8f0-d681-738c-84bd-aea9acda57a2',
            name: 'calculate',
            result: { expression: '12*(3+4)', result: '84' },
          },
        }),
        ...refusals('Unauthenticated', 'Forbidden', 'NotFound', 'TooLarge'),
      },
    },
  },
};
