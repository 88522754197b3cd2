import type { Schema } from './document.js';
import { integer, named, record, SESSION_EXAMPLE, text, uuid, words } from './schemas.js';

/**
 * The events of the updates streams, by the names of their schemas. Those of `LoggedEvent` have an id and are replayed.
 */

const session_id = uuid('The session that it happened in.');
const turn_id = text('The turn.');

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
  call_id: text('The call, as in the messages.'),
  tool_name: text('The tool.'),
  name: text('Equals `tool_name`.'),
};

function oneOf(names: readonly string[], description: string): Schema {
  return { description, oneOf: names.map((name) => named(name)) };
}

/** Logged events, and the gap that stands for those that are no longer kept. */
export const updateEvents: Readonly<Record<string, Schema>> = {
  TitleChanged: event('title_changed', { new_title: text() }, 'The thread has a new title.'),
  ToolUpdate: event(
    'tool_update',
    { ...tool, status: { const: 'running' }, message: text('How far it is.') },
    'A tool was called, or says how far it is.',
    ['message'],
  ),
  ToolComplete: event(
    'tool_complete',
    {
      ...tool,
      status: words(['complete', 'failed']),
      result: text('Equals the message’s `tool_result[1]`.'),
    },
    'A tool has finished.',
  ),
  SystemNotice: event('system_notice', { message: text() }, 'A notice of the service to the session.'),
  Gap: event(
    'gap',
    { from: integer(0, 'The first id that is missing.'), to: integer(0, 'The last one.') },
    'Events that are no longer kept, or never were: read the state.',
  ),
  LoggedEvent: oneOf(
    ['TitleChanged', 'ToolUpdate', 'ToolComplete', 'SystemNotice'],
    'An event with an id: kept, and replayed to a client that comes back.',
  ),
};

/** What `include=turns` adds: passing events without an id, which are not replayed. */
export const turnEvents: Readonly<Record<string, Schema>> = {
  TurnStarted: event(
    'turn_started',
    { turn_id },
    'A turn runs, or was cancelled while it waited. For a known turn: its text so far is void.',
  ),
  TextDelta: event(
    'text_delta',
    {
      turn_id,
      content: text(),
      offset: integer(0, 'How many UTF-16 units of the turn’s text come before `content`.'),
    },
    'More text of the answer.',
  ),
  TurnEnded: event(
    'turn_ended',
    { turn_id, status: words(['complete', 'interrupted', 'failed']) },
    'A turn has ended.',
  ),
};

/** All that a stream may send. */
export function anyEvent(names: readonly string[]): Schema {
  return oneOf(names, 'The JSON object of one `data:` line.');
}

/** A stretch of a stream of updates. */
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

/** How streams are written. */
export const FRAMING = `Each event is one \`data:\` line with a JSON object, and a blank line. A line that begins with a colon is a comment,
sent after silence. The stream is never compressed. A client that falls 1 MiB behind is cut off.`;
