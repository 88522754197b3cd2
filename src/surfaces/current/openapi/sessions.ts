import { json } from '../../openapi/answers.js';
import type { Paths } from '../../openapi/document.js';
import { refusals } from '../../openapi/refusals.js';
import { credentials, fields, jsonBody, query, sessionInPath, walletProof } from '../../openapi/requests.js';
import { list, named, SESSION_EXAMPLE, WALLET_EXAMPLE } from '../../openapi/schemas.js';

const tags = ['Sessions'];
const thread = { session_id: SESSION_EXAMPLE, title: 'New Chat' };
const wallet = { type: 'string', minLength: 1, maxLength: 128 };
const limit = { type: 'integer', minimum: 1, maximum: 1000 };

/** Sessions and threads. */
export const sessionPaths: Paths = {
  '/api/sessions': {
    post: {
      operationId: 'createSession',
      summary: 'Create a session',
      description:
        'A session that exists is not changed but for a wallet given with it. Under `/api`, while both surfaces are exposed, the answer also has the legacy field `created`.',
      tags,
      security: credentials('required', 'none'),
      parameters: [
        query('public_key', 'A wallet address to bind the session to.', { schema: wallet }),
        walletProof,
      ],
      requestBody: jsonBody(fields({ public_key: wallet }), {
        required: false,
        description: 'The same, where the query lacks it.',
        example: { public_key: WALLET_EXAMPLE },
      }),
      responses: {
        200: json('The session.', named('Thread'), { example: thread }),
        ...refusals('Unauthenticated', 'Forbidden', 'TooLarge'),
      },
    },
    get: {
      operationId: 'listThreads',
      summary: 'List the threads of a wallet',
      description: 'Newest activity first.',
      tags,
      security: credentials('required', 'none'),
      parameters: [
        query('public_key', 'The wallet address.', {
          required: true,
          schema: wallet,
          example: WALLET_EXAMPLE,
        }),
        query('limit', 'How many at most.', { schema: { ...limit, default: 1000 } }),
        query('cursor', 'Where to go on, as the `Link` header of the page before says.'),
        walletProof,
      ],
      responses: {
        200: json('The threads.', list(named('Thread')), {
          example: [thread],
          headers: {
            Link: {
              description: 'The next page, when there is one.',
              schema: { type: 'string', pattern: '^<[^>]+>; rel="next"$' },
            },
          },
        }),
        ...refusals('Unauthenticated', 'Forbidden'),
      },
    },
  },
  '/api/sessions/{id}': {
    get: {
      operationId: 'getSession',
      summary: 'Read a session',
      description:
        '`X-Session-Id` is ignored here. Under `/api`, while both surfaces are exposed, the answer also has the legacy field `threads`.',
      tags,
      security: [{}],
      parameters: [sessionInPath],
      responses: { 200: json('The session.', named('Thread'), { example: thread }), ...refusals('NotFound') },
    },
    patch: {
      operationId: 'renameSession',
      summary: 'Rename a thread',
      description: 'No automatic title ever replaces one that was given here.',
      tags,
      security: [{}],
      parameters: [sessionInPath],
      requestBody: jsonBody(
        fields({ title: { type: 'string', description: '1 to 200 characters once trimmed.' } }, ['title']),
        {
          required: true,
          example: { title: 'Twelve times seven' },
        },
      ),
      responses: {
        200: json('The session.', named('Thread'), { example: { ...thread, title: 'Twelve times seven' } }),
        ...refusals('NotFound', 'TooLarge'),
      },
    },
    delete: {
      operationId: 'deleteSession',
      summary: 'Delete a thread and its messages',
      description: 'Interrupts a running turn and ends the streams of the session.',
      tags,
      security: [{}],
      parameters: [sessionInPath],
      responses: {
        200: json('It is gone.', named('Deletion'), {
          example: { session_id: SESSION_EXAMPLE, deleted: true },
        }),
        ...refusals('NotFound'),
      },
    },
  },
  '/api/sessions/{id}/messages': {
    get: {
      operationId: 'readMessages',
      summary: 'Read the persisted messages by pages',
      description:
        'The newest page first, each page in order. Go back with `before` set to the first id of a page.',
      tags,
      security: [{}],
      parameters: [
        sessionInPath,
        query('limit', 'How many at most.', { schema: { ...limit, default: 100 } }),
        query('before', 'Only those before the message with this id.', {
          schema: { type: 'string', format: 'uuid' },
        }),
      ],
      responses: {
        200: json('A page.', named('Records'), {
          example: {
            messages: [
              {
                id: '01a1f8f0-d681-738c-84bd-aea9acda57a2',
                session_id: SESSION_EXAMPLE,
                thread_id: SESSION_EXAMPLE,
                role: 'assistant',
                content: '',
                tool_calls: [{ call_id: 'c1', name: 'calculate', args: { expression: '12*(3+4)' } }],
                tool_results: [
                  { call_id: 'c1', name: 'calculate', result: { expression: '12*(3+4)', result: '84' } },
                ],
                created_at: '2026-11-20T12:03:57.845Z',
              },
            ],
            has_more: false,
          },
        }),
        ...refusals('NotFound'),
      },
    },
  },
};
