import type { Schema } from '../../openapi/document.js';
import { anyEvent, updateEvents } from '../../openapi/events.js';
import { health } from '../../openapi/health.js';
import { message } from '../../openapi/messages.js';
import { flag, list, map, named, record, text, timestamp, uuid, words } from '../../openapi/schemas.js';

function chatEvent(type: string, fields: Readonly<Record<string, Schema>>, description: string): Schema {
  return record({ type: { const: type }, ...fields }, { description });
}

const result = {
  call_id: text('The id of the call.'),
  name: text('The name of the tool.'),
  result: { description: 'Any JSON value.' },
};

const chatEvents: Readonly<Record<string, Schema>> = {
  Text: chatEvent('text', { content: text() }, 'More text of the reply.'),
  ToolCall: chatEvent(
    'tool_call',
    { name: text('The name of the tool.'), call_id: text('The id of the call.'), args: map(true) },
    'The assistant calls a tool.',
  ),
  ToolResult: chatEvent('tool_result', result, 'The result of a tool.'),
  AsyncToolResult: chatEvent('async_tool_result', result, 'The result of a tool that reports its progress.'),
  Complete: chatEvent(
    'complete',
    {},
    'The turn has ended, possibly by an interrupt. The last event of the stream.',
  ),
  ErrorEvent: chatEvent(
    'error',
    { message: text() },
    'The reply could not be completed. The last event of the stream.',
  ),
  ChatEvent: anyEvent(['Text', 'ToolCall', 'ToolResult', 'AsyncToolResult', 'Complete', 'ErrorEvent']),
};

/** The named schemas of the legacy surface. */
export const schemas: Readonly<Record<string, Schema>> = {
  Error: record({ error: text('What is wrong, and what would be right.') }),
  Creation: record({
    session_id: uuid('The id of the session.'),
    created: flag('Whether this request created the session.'),
  }),
  Thread: record({
    id: uuid('The id of the thread.'),
    title: text(),
    created_at: timestamp,
    updated_at: timestamp,
  }),
  Session: record({
    session_id: uuid('The id of the session.'),
    threads: {
      ...list(
        named('Thread'),
        'The session’s own thread, followed by the other threads of its wallet, newest first.',
      ),
      minItems: 1,
    },
  }),
  Message: message,
  UserState: record(
    {
      address: { type: ['string', 'null'], description: 'A wallet address.' },
      chain_id: { type: ['integer', 'null'] },
      is_connected: { type: ['boolean', 'null'] },
    },
    { description: 'Null where unknown.' },
  ),
  State: record({
    session_id: uuid('The id of the session.'),
    status: words(['idle', 'processing', 'interrupted']),
    messages: list(named('Message'), 'All messages in order of their turns.'),
    user_state: named('UserState'),
  }),
  Interruption: record({ interrupted: flag('Whether a turn was cancelled.') }),
  Success: record({ success: { const: true } }),
  Model: record({ id: text(), name: text(), provider: text() }),
  Models: record({ models: list(named('Model')) }),
  App: record({ id: text(), name: text() }),
  Apps: record({ apps: list(named('App')) }),
  Health: health,
  ...chatEvents,
  ...updateEvents,
  UpdateEvent: anyEvent(['TitleChanged', 'ToolUpdate', 'ToolComplete', 'SystemNotice', 'Gap']),
};
