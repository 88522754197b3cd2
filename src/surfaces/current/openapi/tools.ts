import { json } from '../../openapi/answers.js';
import type { Paths } from '../../openapi/document.js';
import { refusals } from '../../openapi/refusals.js';
import { credentials, fields, jsonBody, query } from '../../openapi/requests.js';
import { map, named, text } from '../../openapi/schemas.js';

const tags = ['Tools'];
const app = (description: string) => query('app', description, { schema: { type: 'string', minLength: 1 } });

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
        'The body may have at most 16 KiB. Payloads that contain private keys or seeds are refused. The call appears on `/api/updates`.',
      tags,
      security: credentials('required', 'optional'),
      parameters: [
        app('The App; absent: the last one of the session.'),
        query('client_id', 'The client whose secrets the tool may use.'),
      ],
      requestBody: jsonBody(
        fields(
          {
            name: text('The name of the tool.'),
            args: {
              ...map(true),
              type: ['object', 'null'],
              description: 'The arguments, according to the tool’s schema.',
            },
            app: text('Used if the query lacks it.'),
            client_id: text('Used if the query lacks it.'),
          },
          ['name'],
        ),
        { required: true, example: { name: 'calculate', args: { expression: '12*(3+4)' } } },
      ),
      responses: {
        200: json('The outcome: a `result`, or the tool’s error as `error`.', named('Invocation'), {
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
