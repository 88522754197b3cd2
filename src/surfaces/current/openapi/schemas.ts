import type { Schema } from '../../openapi/document.js';
import { anyEvent, turnEvents, updateEvents } from '../../openapi/events.js';
import { health } from '../../openapi/health.js';
import { message } from '../../openapi/messages.js';
import {
  flag,
  integer,
  list,
  map,
  named,
  record,
  text,
  timestamp,
  uuid,
  words,
} from '../../openapi/schemas.js';
import { pendingRequests, walletRequestSchemas } from './wallet-requests.js';

const call = { call_id: text(), name: text('The name of the tool.') };

const userState: Schema = {
  type: 'object',
  description:
    'The wallet, chain and connection as set by the client. Other keys are stored and returned. The flat keys are present once any of them was received.',
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
    ...pendingRequests,
  },
};

/** The named schemas of the current surface. */
export const schemas: Readonly<Record<string, Schema>> = {
  Error: record(
    {
      error: text('What is wrong, and what would be right.'),
      code: words([
        ...['invalid', 'unauthenticated', 'forbidden', 'not_found', 'method_not_allowed', 'busy', 'gone'],
        ...['payload_too_large', 'full', 'misdirected', 'key_reused', 'too_many', 'rate_limited'],
        ...['internal', 'unavailable'],
      ]),
      request_id: text('Equals `X-Request-Id`.'),
      details: {
        ...list(
          record({ path: text(), message: text() }),
          'All problems of the request. Absent if there are none to list.',
        ),
        minItems: 1,
      },
    },
    { optional: ['details'] },
  ),
  Thread: record(
    {
      session_id: uuid('The id of the session, which is also the id of its thread.'),
      title: text('The title; `New Chat` until one is set.'),
    },
    { description: 'A session and its thread.' },
  ),
  Archiving: record({ session_id: uuid('The session.'), is_archived: flag() }),
  Deletion: record({ session_id: uuid('The deleted session.'), deleted: { const: true } }),
  Message: message,
  ErrorEntry: record({ SystemError: text() }, { description: 'The reason of a failure.' }),
  NoticeEntry: record({ SystemNotice: text() }, { description: 'A notice from the service to the session.' }),
  SystemEvent: { oneOf: [named('ErrorEntry'), named('NoticeEntry'), named('InlineCallEntry')] },
  DeliveredEvent: { oneOf: [named('ErrorEntry'), named('InlineCallEntry')] },
  UserState: userState,
  Snapshot: record(
    {
      messages: list(named('Message'), 'All messages in order of their turns, or the last ones with `tail`.'),
      system_events: list(
        named('DeliveredEvent'),
        'Errors and wallet requests that no earlier response has delivered. Each is delivered once per session.',
      ),
      title: text(),
      is_processing: flag('True while a turn is running or queued.'),
      user_state: { anyOf: [named('UserState'), { type: 'null' }], description: 'Null until one was set.' },
    },
    { description: 'The current state of a session.' },
  ),
  ToolCall: record({ ...call, args: map(true, 'Its arguments.') }),
  ToolResult: record(
    {
      ...call,
      result: { description: 'Any JSON value. If the call failed: the reason as text.' },
      status: { const: 'failed', description: 'Present only if the call failed.' },
    },
    { optional: ['status'] },
  ),
  Record: record(
    {
      id: uuid('The id of the message.'),
      session_id: uuid('The id of the session.'),
      thread_id: uuid('Equals `session_id`.'),
      role: words(['user', 'assistant', 'system']),
      content: text(),
      tool_calls: { anyOf: [list(named('ToolCall')), { type: 'null' }] },
      tool_results: { anyOf: [list(named('ToolResult')), { type: 'null' }] },
      created_at: timestamp,
      turn_id: uuid('The turn of the message. Only with `include=turns`.'),
    },
    { optional: ['turn_id'], description: 'A persisted message.' },
  ),
  TurnSummary: record(
    {
      turn_id: uuid('The id of the turn.'),
      app: text('The App of its message.'),
      status: words(['queued', 'running', 'complete', 'interrupted', 'failed']),
      rig: {
        type: ['string', 'null'],
        description: 'The model that responded. Null if none did, or not yet.',
      },
      input_tokens: integer(0),
      output_tokens: integer(0),
      error: { type: ['string', 'null'], description: 'The reason of a failure.' },
      created_at: timestamp,
      ended_at: { anyOf: [timestamp, { type: 'null' }] },
    },
    { description: 'How a turn went. The tokens are 0 until it has ended.' },
  ),
  Records: record(
    {
      messages: list(named('Record')),
      has_more: flag('Whether there are older messages.'),
      turns: list(named('TurnSummary'), 'The turns of the messages. Only with `include=turns`.'),
    },
    { optional: ['turns'] },
  ),
  Selection: record({
    success: { const: true },
    rig: text('The selected model.'),
    baml: text('The value of the request; if absent, equal to `rig`.'),
    created: flag('Whether this request created the session.'),
  }),
  SecretSlot: record({ name: text(), description: text(), required: flag() }),
  App: record(
    { name: text(), secrets: { ...list(named('SecretSlot')), minItems: 1 }, prompts: list(text()) },
    {
      optional: ['secrets', 'prompts'],
      description:
        'An App. `secrets` is present only if it declares secret slots, `prompts` only if prompts to begin a thread with are configured.',
    },
  ),
  NamedRig: record({ id: text(), name: text('The name for people.') }),
  Tool: record({
    name: text(),
    description: text(),
    parameters: { type: 'object', description: 'A JSON Schema of the arguments.' },
  }),
  Tools: record({ tools: list(named('Tool')) }),
  ToolSuccess: record({ ...call, result: { description: 'Any JSON value.' } }),
  ToolFailure: record({ ...call, error: text('The error that the tool reported.') }),
  Invocation: { oneOf: [named('ToolSuccess'), named('ToolFailure')] },
  SecretHandles: record({
    handles: map({ type: 'string', pattern: '^\\$SECRET:' }, 'Placeholders for the values, by name.'),
  }),
  SecretNames: record({ by_app: map(list(text()), 'The names of the stored values, by App.') }),
  ProviderKey: record({
    provider: words(['openai', 'anthropic', 'google', 'openai-compatible']),
    key_prefix: { type: 'string', maxLength: 7, description: 'The first characters of the key.' },
    label: { type: ['string', 'null'] },
    is_active: flag('False if the service can no longer decrypt the key.'),
  }),
  ProviderKeys: record({
    provider_keys: list(named('ProviderKey')),
    byok_keys: list(named('ProviderKey'), 'Equals `provider_keys`.'),
  }),
  StoredProviderKey: record({ key: named('ProviderKey') }),
  Cleared: record({ cleared: flag('Whether there were any values.') }),
  Deleted: record({ deleted: flag('Whether the value existed.') }),
  Nonce: record({ nonce: text('Letters and digits.'), expires_at: timestamp }),
  WalletProof: record({
    proof: text('The value for the `X-Wallet-Proof` header.'),
    public_key: text('The wallet that has signed in: an address, or chain and address (CAIP-10).'),
    expires_at: timestamp,
  }),
  ...walletRequestSchemas,
  Health: health,
  ...updateEvents,
  ...turnEvents,
  UpdateEvent: anyEvent([
    ...['TitleChanged', 'ToolUpdate', 'ToolComplete', 'SystemNotice', 'Gap'],
    ...['TurnStarted', 'TextDelta', 'TurnEnded'],
  ]),
};
