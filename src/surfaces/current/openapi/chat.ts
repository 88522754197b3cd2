import { answer, eventStream, json } from '../../openapi/answers.js';
import type { Header, Parameter, Paths, Schema } from '../../openapi/document.js';
import { FRAMING, updatesExample } from '../../openapi/events.js';
import { messageExamples } from '../../openapi/messages.js';
import { refusals } from '../../openapi/refusals.js';
import {
  credentials,
  eventCursor,
  fields,
  header,
  idempotencyKey,
  jsonBody,
  query,
  walletProof,
} from '../../openapi/requests.js';
import { integer, list, named, text, uuid } from '../../openapi/schemas.js';

const tags = ['Conversation'];

const cursor: Header = {
  description: 'The id of the newest event. Pass it to `GET /api/updates?since=` to miss no event.',
  required: true,
  schema: integer(0),
};
const counted: Readonly<Record<string, Header>> = {
  'X-Event-Cursor': cursor,
  'X-Total-Messages': {
    description: 'The number of messages in the thread, even if `tail` limits the response.',
    required: true,
    schema: integer(0),
  },
};
const tagged: Readonly<Record<string, Header>> = {
  ETag: {
    description: 'Identifies the session, its revision and `tail`.',
    required: true,
    schema: { type: 'string', pattern: '^W/"[^"]+"$' },
  },
};

const snapshotExample = {
  messages: messageExamples,
  system_events: [],
  title: 'New Chat',
  is_processing: false,
  user_state: { connection: { is_connected: true }, evm: { address: '0x7099…', chain_id: 1 } },
};
const snapshot = (headers: Readonly<Record<string, Header>> = {}) =>
  json('The current state of the session.', named('Snapshot'), {
    example: snapshotExample,
    headers: { ...counted, ...headers },
  });

const userState: Parameter = {
  name: 'user_state',
  in: 'query',
  required: false,
  description:
    'A JSON object, applied to the user state as a merge patch. Flat keys take precedence over nested ones. At most 64 KiB.',
  content: { 'application/json': { schema: named('UserState') } },
};
const clientId = query('client_id', 'The client whose secrets the tools may use.');

const message: Schema = { type: 'string', minLength: 1, description: 'At most 64 KiB of UTF-8.' };
const wallet = { type: 'string', minLength: 1, maxLength: 128 };

export const chatPaths: Paths = {
  '/api/chat': {
    post: {
      operationId: 'sendMessage',
      summary: 'Send a message',
      description:
        'Stores the message, queues its turn and responds immediately. Follow the turn with `/api/updates` or `/api/state`. A 200 means that the message is durable.',
      tags,
      security: credentials('required', 'optional'),
      parameters: [
        query('message', 'The text of the user message.', {
          required: true,
          schema: message,
          example: 'What is 12*(3+4)?',
        }),
        query('app', 'The App.', { schema: { type: 'string', minLength: 1, default: 'default' } }),
        query('public_key', 'A wallet address to bind the session to.', { schema: wallet }),
        userState,
        clientId,
        header(
          'Prefer',
          '`wait=N` delays the response until the turn ends, at most N seconds and at most 60 (RFC 7240).',
          text(),
          'wait=30',
        ),
        idempotencyKey,
        walletProof,
      ],
      requestBody: jsonBody(
        fields({
          message,
          app: text(),
          public_key: wallet,
          user_state: named('UserState'),
          client_id: text(),
        }),
        { required: false, description: 'The same fields, used if the query lacks them.' },
      ),
      responses: {
        200: snapshot({
          'X-Turn-Id': {
            description: 'The id of the message’s turn, as in the events of `include=turns`.',
            required: true,
            schema: uuid('The id of a turn.'),
          },
          'Preference-Applied': {
            description: 'The granted wait.',
            schema: { type: 'string', pattern: '^wait=\\d+$' },
          },
        }),
        ...refusals('Unauthenticated', 'Forbidden', 'Busy', 'Gone', 'TooLarge', 'KeyReused'),
      },
    },
  },
  '/api/state': {
    get: {
      operationId: 'readState',
      summary: 'Read the session',
      description:
        'Suited for polling: send the `ETag` as `If-None-Match` to get a 304 while nothing has changed.',
      tags,
      security: credentials('required', 'none'),
      parameters: [
        userState,
        query('client_id', 'Accepted without effect: reading the state runs no tools.'),
        query('tail', 'Return only this number of last messages.', { schema: integer(0) }),
        header('If-None-Match', 'The `ETag` of the last response.', text()),
      ],
      responses: {
        200: snapshot(tagged),
        304: answer('Nothing has changed.', { headers: { ...tagged, 'X-Event-Cursor': cursor } }),
        ...refusals('NotFound'),
      },
    },
  },
  '/api/interrupt': {
    post: {
      operationId: 'interrupt',
      summary: 'Cancel the running and the queued turns',
      description: 'Responds with the final state. The partial text of the running turn is kept.',
      tags,
      security: credentials('required', 'none'),
      responses: { 200: snapshot(), ...refusals('NotFound') },
    },
  },
  '/api/updates': {
    get: {
      operationId: 'subscribe',
      summary: 'Follow the session',
      description: `A stream that continues across turns. \`Accept\` is optional, but must allow \`text/event-stream\`, otherwise a 400. Without a
cursor, it starts with new events. ${FRAMING} A logged event has an
\`id:\` line before its data. Ids are integers that increase by one with each event of the session.`,
      tags,
      security: credentials('required', 'none'),
      parameters: [
        query('include', '`turns` adds events for the start, text and end of turns.', {
          schema: { type: 'string', pattern: '^turns(,turns)*$' },
          example: 'turns',
        }),
        ...eventCursor,
      ],
      responses: {
        200: eventStream('A stream of updates.', {
          schema: named('UpdateEvent'),
          ids: 'logged',
          example: updatesExample,
        }),
        ...refusals('NotFound'),
      },
    },
  },
  '/api/events': {
    get: {
      operationId: 'listEvents',
      summary: 'Read the last system events',
      description: 'Oldest first. Reading does not remove events.',
      tags,
      security: credentials('required', 'none'),
      parameters: [
        query('count', 'The maximum number of events.', {
          schema: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
        }),
      ],
      responses: {
        200: json('The events.', list(named('SystemEvent')), {
          example: [{ SystemError: 'The rig demo gave no answer.' }],
        }),
        ...refusals('NotFound'),
      },
    },
  },
};
