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
  description: 'The id of the newest event: `GET /api/updates?since=` with it misses nothing.',
  required: true,
  schema: integer(0),
};
const counted: Readonly<Record<string, Header>> = {
  'X-Event-Cursor': cursor,
  'X-Total-Messages': {
    description: 'How many messages the thread has, also when fewer are shown.',
    required: true,
    schema: integer(0),
  },
};
const tagged: Readonly<Record<string, Header>> = {
  ETag: {
    description: 'Of the session, its revision and `tail`.',
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
  json('The session as it is now.', named('Snapshot'), {
    example: snapshotExample,
    headers: { ...counted, ...headers },
  });

const userState: Parameter = {
  name: 'user_state',
  in: 'query',
  required: false,
  description:
    'A JSON object, merged into the state as a merge patch; flat keys win over nested ones. At most 64 KiB.',
  content: { 'application/json': { schema: named('UserState') } },
};
const clientId = query('client_id', 'The client whose secrets the tools may use.');

const message: Schema = { type: 'string', minLength: 1, description: 'At most 64 KiB of UTF-8.' };
const wallet = { type: 'string', minLength: 1, maxLength: 128 };

/** Messages, state, interrupt and updates. */
export const chatPaths: Paths = {
  '/api/chat': {
    post: {
      operationId: 'sendMessage',
      summary: 'Send a message',
      description:
        'Stores the message, queues its turn and answers at once; the rest comes by `/api/updates` and `/api/state`. A 200 means that the message is durable.',
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
          '`wait=N` holds the answer until the turn ends or N seconds pass, 60 at most (RFC 7240).',
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
        { required: false, description: 'The same names, where the query lacks them.' },
      ),
      responses: {
        200: snapshot({
          'X-Turn-Id': {
            description: 'The turn that the message started, as `include=turns` names it.',
            required: true,
            schema: uuid('The id of a turn.'),
          },
          'Preference-Applied': {
            description: 'The wait that was granted.',
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
        'Made to be polled: with the `ETag` in `If-None-Match` the answer is a 304 while nothing has changed.',
      tags,
      security: credentials('required', 'none'),
      parameters: [
        userState,
        query('client_id', 'Taken, and without effect here: a state runs no tools.'),
        query('tail', 'Only so many of the last messages.', { schema: integer(0) }),
        header('If-None-Match', 'The `ETag` of the last answer.', text()),
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
      summary: 'Stop what runs and what waits',
      description: 'The answer is already final. What was shown of the answer is kept.',
      tags,
      security: credentials('required', 'none'),
      responses: { 200: snapshot(), ...refusals('NotFound') },
    },
  },
  '/api/updates': {
    get: {
      operationId: 'subscribe',
      summary: 'Follow the session',
      description: `A stream that outlives turns. \`Accept\` may be absent; one that rules \`text/event-stream\` out is a 400. Without a
cursor it begins with what happens from now on. ${FRAMING} An event that is kept has an
\`id:\` line before it; ids are integers that grow by one with each event of the session.`,
      tags,
      security: credentials('required', 'none'),
      parameters: [
        query('include', '`turns` adds the start, text and end of turns.', {
          schema: { type: 'string', pattern: '^turns(,turns)*$' },
          example: 'turns',
        }),
        ...eventCursor,
      ],
      responses: {
        200: eventStream('The stream.', {
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
      description: 'Oldest first. Takes none away.',
      tags,
      security: credentials('required', 'none'),
      parameters: [
        query('count', 'How many at most.', {
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
