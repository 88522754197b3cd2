import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import type { Conversation } from './conversation.js';
import { parseJson } from './events.js';
import type { Display } from './display.js';
import { Updates } from './updates.js';
import { persistently, request, UnreachableError, type WireSettings } from './wire.js';

/** The answer is asked for at least so often, should the stream say nothing. */
const POLL_MS = 5_000;
/** So many of the last messages hold an answer with its tools. */
const TAIL = '200';

/** A conversation over the current surface: one lasting stream shows what `POST /api/chat` set going. */
export function openCurrent(settings: WireSettings, display: Display): Conversation {
  const updates = new Updates(settings, display);
  const retrying = ({ message }: UnreachableError): void => {
    display.aside(`(${message}; trying again)`);
  };

  return {
    async ask(text) {
      // Attached first: nothing of the answer is missed.
      await updates.attached();
      display.begin();
      updates.beginAnswer();
      const idempotencyKey = randomUUID();
      const accepted = await persistently(
        () =>
          request(settings, {
            method: 'POST',
            path: '/api/chat',
            query: { message: text, app: settings.app },
            headers: {
              'Idempotency-Key': idempotencyKey,
              ...(settings.key === undefined ? {} : { 'SERVICE-APP-KEY': settings.key }),
            },
          }),
        retrying,
      );
      let snapshot = await readSnapshot(accepted);
      showFaults(snapshot);
      while (snapshot.is_processing === true) {
        await updates.turnEnded(POLL_MS);
        snapshot = await persistently(state, retrying);
        showFaults(snapshot);
      }
      const { reply, failure } = lastAnswer(snapshot);
      if (updates.missedSome() || !display.hasText()) display.whole(reply);
      display.end();
      if (failure !== undefined) display.aside(`! ${failure}`);
      return failure === undefined ? 'answered' : 'failed';
    },

    async interrupt() {
      await request(settings, { method: 'POST', path: '/api/interrupt' });
    },

    close: () => updates.close(),
  };

  async function state(): Promise<JsonObject> {
    return readSnapshot(
      await request(settings, { method: 'GET', path: '/api/state', query: { tail: TAIL } }),
    );
  }

  /** A `SystemError` is in one snapshot only, and in the history as a message, which is what is shown. */
  function showFaults(snapshot: JsonObject): void {
    const events = Array.isArray(snapshot.system_events) ? snapshot.system_events : [];
    for (const event of events) {
      if (isJsonObject(event) && typeof event.SystemNotice === 'string')
        display.aside(`· ${event.SystemNotice}`);
    }
  }
}

async function readSnapshot(response: Response): Promise<JsonObject> {
  let text: string;
  try {
    text = await response.text();
  } catch (error) {
    throw new UnreachableError('The answer broke off', { cause: error });
  }
  const body = parseJson(text);
  if (!isJsonObject(body))
    throw new UnreachableError('The service answered with something that is no snapshot');
  return body;
}

/** What the assistant said after the last message of the user, and why it failed, if it did. */
function lastAnswer(snapshot: JsonObject): { reply: string; failure: string | undefined } {
  const messages = (Array.isArray(snapshot.messages) ? snapshot.messages : []).filter(isJsonObject);
  const own = messages.slice(messages.findLastIndex(({ sender }) => sender === 'user') + 1);
  const contents = (sender: string): string[] =>
    own.flatMap((message) =>
      message.sender === sender && typeof message.content === 'string' ? [message.content] : [],
    );
  return { reply: contents('agent').join(''), failure: contents('system').at(-1) };
}
