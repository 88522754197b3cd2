import type { Schema } from '../../openapi/document.js';
import { anyEvent, turnEvents, updateEvents } from '../../openapi/events.js';
import { health } from '../../openapi/health.js';
import { message } from '../../openapi/messages.js';
import { flag, list, map, named, record, text, timestamp, uuid, words } from '../../openapi/schemas.js';

const call = { call_id: text(), name: text('The tool.') };

const userState: Schema = {
  type: 'object',
  description:
    'What the client said of wallet, chain and connection. Further keys are kept and come back. The flat keys are there once any of them was received.',
  properties: {
    connection: {
      type: ['object', 'null'],
      properties: { is_connected: { type: ['boolean', 'null'] } },
    },
    evm: {
      type: ['object', 'null'],
      properties: {
        address: { type: ['string', 'null'], description: 'A wallet address.' },
        chain_id: { type: ['integer', 'string', 'null'] },
      },
    },
    address: { type: ['string', 'null'], description: 'Equals `evm.address`.' },
    chain_id: { type: ['integer', 'string', 'null'], description: 'Equals `evm.chain_id`.' },
    is_connected: { type: ['boolean', 'null'], description: 'Equals `connection.is_connected`.' },
  },
};

/** The named schemas of the current surface. */
export const schemas: Readonly<Record<string, Schema>> = {
  Error: record(
    {
      error: text('What was wrong, with what, and what would be right.'),
      code: words([
        ...['invalid', 'unauthenticated', 'forbidden', 'not_found', 'method_not_allowed', 'busy', 'gone'],
        ...['payload_too_large', 'full', 'misdirected', 'key_reused', 'too_many', 'rate_limited'],
        ...['internal', 'unavailable'],
      ]),
      request_id: text('Equals `X-Request-Id`.'),
      details: {
        ...list(
          record({ path: text(), message: text() }),
          'Everything that is wrong; absent where there is nothing to list.',
        ),
        minItems: 1,
      },
    },
    { optional: ['details'] },
  ),
  Thread: record(
    {
      session_id: uuid('The session and its thread have the same id.'),
      title: text('`New Chat` until it has one.'),
    },
    { description: 'A session and its thread.' },
  ),
  Deletion: record({ session_id: uuid('The session that was.'), deleted: { const: true } }),
  Message: message,
  ErrorEntry: record({ SystemError: text() }, { description: 'Why something could not be done.' }),
  NoticeEntry: record({ SystemNotice: text() }, { description: 'A notice of the service to the session.' }),
  SystemEvent: { oneOf: [named('ErrorEntry'), named('NoticeEntry')] },
  UserState: userState,
  Snapshot: record(
    {
      messages: list(
        named('Message'),
        'All of the conversation, in order of its turns; the last ones with `tail`.',
      ),
      system_events: list(named('ErrorEntry'), 'Each `SystemError` once per session.'),
      title: text(),
      is_processing: flag('True while a turn runs or waits.'),
      user_state: { anyOf: [named('UserState'), { type: 'null' }], description: 'Null until there is one.' },
    },
    { description: 'A session as it is now.' },
  ),
  ToolCall: record({ ...call, args: map(true, 'Its arguments.') }),
  ToolResult: record(
    {
      ...call,
      result: { description: 'Any JSON value; where the call failed, the words that say why.' },
      status: { const: 'failed', description: 'Only where the call failed.' },
    },
    { optional: ['status'] },
  ),
  Record: record(
    {
      id: uuid('The message.'),
      session_id: uuid('The session.'),
      thread_id: uuid('Equals `session_id`.'),
      role: words(['user', 'assistant', 'system']),
      content: text(),
      tool_calls: { anyOf: [list(named('ToolCall')), { type: 'null' }] },
      tool_results: { anyOf: [list(named('ToolResult')), { type: 'null' }] },
      created_at: timestamp,
    },
    { description: 'A persisted message.' },
  ),
  Records: record({ messages: list(named('Record')), has_more: flag('Whether there are older ones.') }),
  Selection: record({
    success: { const: true },
    rig: text('The model that was selected.'),
    baml: text('As it was given, else equal to `rig`.'),
    created: flag('Whether this request created the session.'),
  }),
  SecretSlot: record({ name: text(), description: text(), required: flag() }),
  App: record(
    { name: text(), secrets: { ...list(named('SecretSlot')), minItems: 1 } },
    { optional: ['secrets'], description: 'An App; `secrets` only where it declares slots.' },
  ),
  Tool: record({
    name: text(),
    description: text(),
    parameters: { type: 'object', description: 'A JSON Schema of the arguments.' },
  }),
  Tools: record({ tools: list(named('Tool')) }),
  ToolSuccess: record({ ...call, result: { description: 'Any JSON value.' } }),
  ToolFailure: record({ ...call, error: text('The tool’s own failure.') }),
  Invocation: { oneOf: [named('ToolSuccess'), named('ToolFailure')] },
  SecretHandles: record({
    handles: map({ type: 'string', pattern: '^\\$SECRET:' }, 'Names and what stands for their values.'),
  }),
  SecretNames: record({ by_app: map(list(text()), 'The names that are stored, by App. Never a value.') }),
  Cleared: record({ cleared: flag('Whether there was something.') }),
  Deleted: record({ deleted: flag('Whether there was such a one.') }),
  Nonce: record({ nonce: text('Letters and digits.'), expires_at: timestamp }),
  WalletProof: record({
    proof: text('To send as `X-Wallet-Proof`.'),
    public_key: text('The wallet that it is for: an address, or chain and address (CAIP-10).'),
    expires_at: timestamp,
  }),
  Health: health,
  ...updateEvents,
  ...turnEvents,
  UpdateEvent: anyEvent([
    ...['TitleChanged', 'ToolUpdate', 'ToolComplete', 'SystemNotice', 'Gap'],
    ...['TurnStarted', 'TextDelta', 'TurnEnded'],
  ]),
};
