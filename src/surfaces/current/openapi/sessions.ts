import { json } from '../../openapi/answers.js';
import type { Paths } from '../../openapi/document.js';
import { refusals } from '../../openapi/refusals.js';
import {
  credentials,
  fields,
  idempotencyKey,
  jsonBody,
  query,
  sessionInPath,
  walletProof,
} from '../../openapi/requests.js';
import { list, named, SESSION_EXAMPLE, WALLET_EXAMPLE } from '../../openapi/schemas.js';

const tags = ['Sessions'];
const thread = { session_id: SESSION_EXAMPLE, title: 'New Chat' };
const wallet = { type: 'string', minLength: 1, maxLength: 128 };
const messageId = { type: 'string', format: 'uuid' };
const MESSAGE_EXAMPLE = '01a1f8f0-d681-738c-84bd-aea9acda57a2';
const BRANCH_EXAMPLE = 'b3a6c0de-6e0f-4c8b-8d55-0e3c2f7a9b14';
const limit = { type: 'integer', minimum: 1, maximum: 1000 };

/** Describes one of the two paths that archive a session. */
function archiving(operationId: string, summary: string, is_archived: boolean): Paths[string] {
  return {
    post: {
      operationId,
      summary,
      description:
        'Has no effect on a session that is in this state already. An archived thread stays readable and usable.',
      tags,
      security: [{}],
      parameters: [sessionInPath],
      responses: {
        200: json('The session.', named('Archiving'), {
          example: { session_id: SESSION_EXAMPLE, is_archived },
        }),
        ...refusals('NotFound'),
      },
    },
  };
}

export const sessionPaths: Paths = {
  '/api/sessions': {
    post: {
      operationId: 'createSession',
      summary: 'Create a session',
      description:
        'Leaves an existing session unchanged, except that it binds the given wallet. Under `/api`, while both surfaces are exposed, the response also has the legacy field `created`.',
      tags,
      security: credentials('required', 'none'),
      parameters: [
        query('public_key', 'A wallet address to bind the session to.', { schema: wallet }),
        walletProof,
      ],
      requestBody: jsonBody(fields({ public_key: wallet }), {
        required: false,
        description: 'The same field, used if the query lacks it.',
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
      description: 'The thread with the latest activity comes first.',
      tags,
      security: credentials('required', 'none'),
      parameters: [
        query('public_key', 'The wallet address.', {
          required: true,
          schema: wallet,
          example: WALLET_EXAMPLE,
        }),
        query('limit', 'The maximum number of items.', { schema: { ...limit, default: 1000 } }),
        query('cursor', 'The position to continue from, as in the `Link` header of the previous page.'),
        walletProof,
      ],
      responses: {
        200: json('The threads.', list(named('Thread')), {
          example: [thread],
          headers: {
            Link: {
              description: 'The URL of the next page, if there is one.',
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
        'Ignores `X-Session-Id`. Under `/api`, while both surfaces are exposed, the response also has the legacy field `threads`.',
      tags,
      security: [{}],
      parameters: [sessionInPath],
      responses: { 200: json('The session.', named('Thread'), { example: thread }), ...refusals('NotFound') },
    },
    patch: {
      operationId: 'renameSession',
      summary: 'Rename a thread',
      description: 'An automatic title never replaces one that was set here.',
      tags,
      security: [{}],
      parameters: [sessionInPath],
      requestBody: jsonBody(
        fields({ title: { type: 'string', description: '1 to 200 characters after trimming.' } }, ['title']),
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
        200: json('The session was deleted.', named('Deletion'), {
          example: { session_id: SESSION_EXAMPLE, deleted: true },
        }),
        ...refusals('NotFound'),
      },
    },
  },
  '/api/sessions/{id}/archive': archiving('archiveSession', 'Archive a thread', true),
  '/api/sessions/{id}/unarchive': archiving('unarchiveSession', 'Take a thread out of the archive', false),
  '/api/sessions/{id}/branch': {
    post: {
      operationId: 'branchSession',
      summary: 'Branch a thread',
      description:
        'Creates a session that begins with the history of this one, which stays as it is. The history is that of the turns that have ended. The branch has the App, the model, the wallet and the user state of the session; its title is marked as that of a branch. It has no wallet requests, no system events and no client: name `client_id` again.',
      tags,
      security: [{}],
      parameters: [
        sessionInPath,
        query('before', 'End the history before the message with this id. Absent: take the whole history.', {
          schema: messageId,
        }),
        {
          ...idempotencyKey,
          description:
            'Makes a retry within 24 hours safe: the same key returns the same branch. Reusing a key for another request is a 422.',
        },
        walletProof,
      ],
      requestBody: jsonBody(fields({ before: messageId }), {
        required: false,
        description: 'The same field, used if the query lacks it.',
        example: { before: MESSAGE_EXAMPLE },
      }),
      responses: {
        200: json('The new session.', named('Thread'), {
          example: { session_id: BRANCH_EXAMPLE, title: 'Branch of Twelve times seven' },
        }),
        ...refusals('Unauthenticated', 'NotFound', 'Gone', 'TooLarge', 'KeyReused'),
      },
    },
  },
  '/api/sessions/{id}/messages': {
    get: {
      operationId: 'readMessages',
      summary: 'Read the persisted messages in pages',
      description:
        'Returns the newest page by default, each page in chronological order. For the previous page, set `before` to the first id of a page. A page ends early once its text has a million characters: `has_more` says whether there are messages before it.',
      tags,
      security: [{}],
      parameters: [
        sessionInPath,
        query('limit', 'The maximum number of items.', { schema: { ...limit, default: 100 } }),
        query('before', 'Return only messages before the one with this id.', {
          schema: messageId,
        }),
        query('include', '`turns` adds how the turns of these messages went.', {
          schema: { type: 'string', enum: ['turns'] },
        }),
      ],
      responses: {
        200: json('A page of messages.', named('Records'), {
          example: {
            messages: [
              {
                id: MESSAGE_EXAMPLE,
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
