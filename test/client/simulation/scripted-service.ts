import type { HeldStream } from './held-stream.js';
import type { ScriptedSession } from './scripted-session.js';
import type { ScriptedTurn } from './scripted-turn.js';

/** A request as the service receives it. */
export interface Received {
  /** The name of the tab that sent it. */
  readonly from: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

/** A response, and the stream that it has as a body. */
export interface Reply {
  readonly response: Response;
  readonly stream?: HeldStream;
}

interface Message {
  readonly message?: string;
  readonly text?: string;
}

/** Responds to the requests of `watch` and `send` with what the session is at that moment, over both surfaces. */
export function respond(session: ScriptedSession, request: Received): Reply {
  const { from, path, headers } = request;
  switch (path) {
    case '/current/api/state':
      return { response: currentState(session, headers.get('if-none-match')) };
    case '/current/api/chat':
      return { response: currentState(session, null, accept(session, request)) };
    case '/current/api/updates':
    case '/legacy/api/thread/updates':
      return streaming(session.watch(`updates of ${from}`, Number(headers.get('last-event-id'))));
    case '/legacy/api/thread/state':
      return { response: legacyState(session) };
    case '/legacy/api/thread/chat': {
      const turn = accept(session, request);
      return streaming(session.follow(`reply ${turn.id} to ${from}`, turn));
    }
  }
  if (path.endsWith('/messages')) return { response: Response.json(history(session)) };
  if (path.startsWith('/legacy/api/sessions/')) return { response: Response.json({ threads: [] }) };
  throw new Error(`The scripted service has no ${path}`);
}

function accept(session: ScriptedSession, { headers, body }: Received): ScriptedTurn {
  const { message, text = message } = JSON.parse(body) as Message;
  return session.accept(text ?? '', headers.get('idempotency-key') ?? '');
}

function streaming(stream: HeldStream): Reply {
  const headers = { 'Content-Type': 'text/event-stream' };
  return { response: new Response(stream.body, { headers }), stream };
}

function currentState(session: ScriptedSession, known: string | null, turn?: ScriptedTurn): Response {
  const etag = `"${String(session.revision)}"`;
  if (known === etag) return new Response(null, { status: 304 });
  const headers = {
    ...{ ETag: etag, 'X-Event-Cursor': String(session.cursor) },
    ...(turn && { 'X-Turn-Id': turn.id }),
  };
  const body = {
    messages: session.turns.flatMap((one) => one.messages()),
    ...{ system_events: [], title: session.title ?? 'New Chat' },
    ...{ is_processing: session.isBusy, user_state: null },
  };
  return Response.json(body, { headers });
}

function legacyState({ turns, status }: ScriptedSession): Response {
  if (turns.length === 0) return Response.json({ error: 'unknown session' }, { status: 404 });
  return Response.json({ messages: turns.flatMap((one) => one.messages()), status, user_state: null });
}

/** Returns the page of all stored messages. */
function history({ turns }: ScriptedSession): object {
  return {
    messages: turns.flatMap((turn) => [
      storedMessage(turn, 0, { role: 'user', content: turn.message }),
      ...turn.stored.map(({ content, callId, result }, index) =>
        storedMessage(turn, index + 1, {
          ...{ role: 'assistant', content },
          tool_calls: callId === undefined ? [] : [{ call_id: callId, name: 'add', args: {} }],
          tool_results:
            callId === undefined || result === null ? null : [{ call_id: callId, name: 'add', result }],
        }),
      ),
    ]),
    turns: turns.map(({ id, status, hasEnded }) => ({
      ...{ turn_id: id, status, ended_at: hasEnded ? new Date(0).toISOString() : null },
    })),
    has_more: false,
  };
}

function storedMessage({ id, acceptedAt }: ScriptedTurn, index: number, message: object): object {
  return {
    ...{ id: `${id}-${String(index)}`, turn_id: id, created_at: acceptedAt },
    ...{ tool_calls: null, tool_results: null, ...message },
  };
}
