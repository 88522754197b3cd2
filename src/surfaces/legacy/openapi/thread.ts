import { eventStream, json } from '../../openapi/answers.js';
import type { Paths } from '../../openapi/document.js';
import { FRAMING, updatesExample } from '../../openapi/events.js';
import { messageExamples } from '../../openapi/messages.js';
import { refusals } from '../../openapi/refusals.js';
import { credentials, eventCursor, fields, idempotencyKey, jsonBody, query } from '../../openapi/requests.js';
import { named, SESSION_EXAMPLE } from '../../openapi/schemas.js';

const tags = ['Conversation'];
const session = (required: boolean, description: string) =>
  query('session_id', description, { required, schema: { type: 'string', format: 'uuid' } });
const known = session(true, 'The UUID of the session, which must exist.');

const chatExample = [
  { type: 'text', content: 'Let me see.' },
  { type: 'tool_call', name: 'get_time', call_id: 'c1', args: { timezone: 'UTC' } },
  { type: 'tool_result', call_id: 'c1', name: 'get_time', result: { time: '12:00' } },
  { type: 'text', content: 'It is noon.' },
  { type: 'complete' },
]
  .map((event) => `data: ${JSON.stringify(event)}\n\n`)
  .join('');

export const threadPaths: Paths = {
  '/api/thread/chat': {
    post: {
      operationId: 'sendMessage',
      summary: 'Send a message and stream the reply',
      description: `Once the stream has begun, the message is durable. The turn continues when the client disconnects. ${FRAMING}
The last event is one \`complete\` or one \`error\`; then the connection closes. An \`error\` also ends a stream if the reply was generated again with different text after
the failure of a process. The state has the new reply.`,
      tags,
      security: credentials('required', 'optional'),
      parameters: [
        query('app', 'The App.', { schema: { type: 'string', default: 'default' } }),
        query('client_id', 'The client whose secrets the tools may use.'),
        idempotencyKey,
      ],
      requestBody: jsonBody(
        fields(
          {
            text: { type: 'string', minLength: 1, description: 'The user message: at most 64 KiB of UTF-8.' },
          },
          ['text'],
        ),
        { required: true, example: { text: 'What time is it?' } },
      ),
      responses: {
        200: eventStream('The reply while it is generated.', {
          schema: named('ChatEvent'),
          ids: 'none',
          example: chatExample,
        }),
        ...refusals('Unauthenticated', 'Forbidden', 'Busy', 'TooLarge', 'KeyReused'),
      },
    },
  },
  '/api/thread/state': {
    get: {
      operationId: 'readState',
      summary: 'Read a session',
      tags,
      security: credentials('optional', 'none'),
      parameters: [known],
      responses: {
        200: json('The current state of the session.', named('State'), {
          example: {
            session_id: SESSION_EXAMPLE,
            status: 'idle',
            messages: messageExamples,
            user_state: { address: null, chain_id: null, is_connected: null },
          },
        }),
        ...refusals('NotFound'),
      },
    },
  },
  '/api/thread/interrupt': {
    post: {
      operationId: 'interrupt',
      summary: 'Cancel the running and the queued turns',
      tags,
      security: credentials('optional', 'none'),
      parameters: [known],
      responses: {
        200: json('The turns were cancelled, if there were any.', named('Interruption'), {
          example: { interrupted: true },
        }),
        ...refusals('NotFound'),
      },
    },
  },
  '/api/thread/updates': {
    get: {
      operationId: 'subscribe',
      summary: 'Follow a session',
      description: `A stream that continues across turns. The header or \`session_id\` names the session. ${FRAMING} With a cursor, a logged event
has an \`id:\` line before its data.`,
      tags,
      security: credentials('optional', 'none'),
      parameters: [
        session(false, 'The UUID of the session, which must exist. For clients that cannot set headers.'),
        ...eventCursor,
      ],
      responses: {
        200: eventStream('A stream of updates.', {
          schema: named('UpdateEvent'),
          ids: 'logged-with-cursor',
          example: updatesExample,
        }),
        ...refusals('NotFound'),
      },
    },
  },
};
