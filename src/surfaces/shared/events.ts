/**
 * The frames of `GET /api/updates` and `GET /api/thread/updates`. Each is encoded once and shared by all streams of its
 * session.
 */
import type { Update } from '../../core/model/update.js';
import type { LoggedEvent } from '../../core/model/event.js';
import { resultText } from '../../core/model/message.js';

/** The two encodings of one event. */
interface Encoded {
  readonly bare: Buffer;
  readonly withId: Buffer;
}

const encodings = new WeakMap<object, Encoded>();

/**
 * Returns the frame of a session's update.
 * @param options `ids`: adds an `id:` line to logged events, for clients that resume with a cursor
 */
export function updateFrame(sessionId: string, update: Update, { ids }: { readonly ids: boolean }): Buffer {
  const key = update.type === 'logged' ? update.event : update;
  let encoded = encodings.get(key);
  if (encoded === undefined) {
    const data = dataFrame(show(sessionId, update));
    encoded = { bare: Buffer.from(data), withId: Buffer.from(idLine(update) + data) };
    encodings.set(key, encoded);
  }
  return ids ? encoded.withId : encoded.bare;
}

/**
 * Returns the frame of a session's update, with an `id:` line if it is a logged event, for a client that knows the
 * session by another id. Not shared, because few streams have the same one.
 */
export function frameFor(sentId: string, update: Update): string {
  return idLine(update) + dataFrame(show(sentId, update));
}

function idLine(update: Update): string {
  return update.type === 'logged' ? `id: ${String(update.event.id)}\n` : '';
}

/** Returns one `data:` line and the blank line that ends an event. */
export function dataFrame(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function show(session_id: string, update: Update): object {
  switch (update.type) {
    case 'logged':
      return showLogged(session_id, update.event);
    case 'gap':
      return { type: 'gap', session_id, from: update.from, to: update.to };
    case 'turn_started':
      return { type: 'turn_started', session_id, turn_id: update.turnId };
    case 'text': {
      const { turnId, content, before, offset } = update;
      return { type: 'text_delta', session_id, turn_id: turnId, content, offset: before + offset };
    }
    case 'turn_ended':
      return { type: 'turn_ended', session_id, turn_id: update.turnId, status: update.outcome };
  }
  return update satisfies never;
}

function showLogged(session_id: string, { body }: LoggedEvent): object {
  switch (body.type) {
    case 'title_changed':
      return { type: body.type, session_id, new_title: body.title };
    case 'tool_update': {
      const { type, callId, toolName, message } = body;
      const progress = message === undefined ? {} : { message };
      return { type, session_id, ...tool(callId, toolName), status: 'running', ...progress };
    }
    case 'tool_complete': {
      const { type, callId, toolName, failed, result } = body;
      const status = failed ? 'failed' : 'complete';
      return { type, session_id, ...tool(callId, toolName), status, result: resultText(result) };
    }
    case 'system_notice':
      return { type: body.type, session_id, message: body.message };
  }
  return body satisfies never;
}

/** Returns the call id and tool name under both of their field names, because clients use either. */
function tool(callId: string, toolName: string): object {
  return { id: callId, call_id: callId, tool_name: toolName, name: toolName };
}
