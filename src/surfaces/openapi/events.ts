import type { Schema } from './document.js';
import { integer, named, record, SESSION_EXAMPLE, text, uuid, words } from './schemas.js';

/** The events of the update streams, by schema name. Those of `LoggedEvent` have an id and can be replayed. */

const session_id = uuid('The session of the event.');
const turn_id = text('The id of the turn.');

function event(
  type: string,
  fields: Readonly<Record<string, Schema>>,
  description: string,
  optional: readonly string[] = [],
): Schema {
  return record({ type: { const: type }, session_id, ...fields }, { description, optional });
}

const tool = {
  id: text('Equals `call_id`.'),
  call_id: text('The id of the call, as in the messages.'),
  tool_name: text('The name of the tool.'),
  name: text('Equals `tool_name`.'),
};

function oneOf(names: readonly string[], description: string): Schema {
  return { description, oneOf: names.map((name) => named(name)) };
}

/** Logged events, and the gap that replaces those that are no longer kept. */
export const updateEvents: Readonly<Record<string, Schema>> = {
  TitleChanged: event('title_changed', { new_title: text() }, 'The title of the thread changed.'),
  ToolUpdate: event(
    'tool_update',
    { ...tool, status: { const: 'running' }, message: text('The progress of the call.') },
    'A tool was called, or reported its progress.',
    ['message'],
  ),
  ToolComplete: event(
    'tool_complete',
    {
      ...tool,
      status: words(['complete', 'failed']),
      result: text('Equals the message’s `tool_result[1]`.'),
    },
    'A tool call finished.',
  ),
  SystemNotice: event('system_notice', { message: text() }, 'A notice from the service to the session.'),
  Gap: event(
    'gap',
    { from: integer(0, 'The first missing id.'), to: integer(0, 'The last missing id.') },
    'Events that are no longer available: read the state instead.',
  ),
  LoggedEvent: oneOf(
    ['TitleChanged', 'ToolUpdate', 'ToolComplete', 'SystemNotice'],
    'An event with an id. It is stored, and replayed to a client that resumes with a cursor.',
  ),
};

/** The events that `include=turns` adds. They have no id and are not replayed. */
export const turnEvents: Readonly<Record<string, Schema>> = {
  TurnStarted: event(
    'turn_started',
    { turn_id },
    'A turn started, or was cancelled while queued. When repeated for the same turn, discard its text so far.',
  ),
  TextDelta: event(
    'text_delta',
    {
      turn_id,
      content: text(),
      offset: integer(0, 'The position of `content` in the turn’s text, in UTF-16 code units.'),
    },
    'More text of the reply.',
  ),
  TurnEnded: event(
    'turn_ended',
    { turn_id, status: words(['complete', 'interrupted', 'failed']) },
    'A turn ended.',
  ),
};

/** Returns the schema of any event of a stream. */
export function anyEvent(names: readonly string[]): Schema {
  return oneOf(names, 'The JSON object of one `data:` line.');
}

/** An excerpt of an update stream. */
export const updatesExample = [
  'id: 7',
  `data: {"type":"title_changed","session_id":"${SESSION_EXAMPLE}","new_title":"Twelve times seven"}`,
  '',
  'id: 8',
  `data: {"type":"system_notice","session_id":"${SESSION_EXAMPLE}","message":"The rig is another one now."}`,
  '',
  ': keep-alive',
  '',
  '',
].join('\n');

/** The format of streams, for the descriptions of operations. */
export const FRAMING = `Each event is one \`data:\` line with a JSON object, followed by a blank line. A line that begins with a colon is a keep-alive comment,
sent after silence. The stream is never compressed. The service disconnects a client that falls 1 MiB behind.`;
