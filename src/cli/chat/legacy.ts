import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../core/json.js';
import type { Conversation } from './conversation.js';
import { shortened, type Display } from './display.js';
import { readEvents, textField } from './events.js';
import { bodyOf, persistently, request, UnreachableError, type WireSettings } from './wire.js';

/** A conversation over the earlier revision (§4.13): each answer is a stream of its own. */
export function openLegacy(settings: WireSettings, display: Display): Conversation {
  return {
    async ask(text) {
      // A repeat with the same key streams the same turn from its beginning.
      const idempotencyKey = randomUUID();
      const tools = new Set<string>();
      display.begin();
      const outcome = await persistently(
        () => streamOnce(text, idempotencyKey, tools),
        ({ message }) => {
          display.aside(`(${message}; trying again)`);
        },
      );
      display.end();
      return outcome;
    },

    async interrupt() {
      const query = { session_id: settings.sessionId };
      await request(settings, { method: 'POST', path: '/api/thread/interrupt', query });
    },

    close: () => Promise.resolve(),
  };

  async function streamOnce(
    text: string,
    idempotencyKey: string,
    tools: Set<string>,
  ): Promise<'answered' | 'failed'> {
    const response = await request(settings, {
      method: 'POST',
      path: '/api/thread/chat',
      query: { app: settings.app },
      headers: {
        'Idempotency-Key': idempotencyKey,
        ...(settings.key === undefined ? {} : { 'X-API-Key': settings.key }),
      },
      json: { text },
    });
    display.again();
    try {
      for await (const { data } of readEvents(bodyOf(response))) {
        const outcome = show(data, tools);
        if (outcome !== undefined) return outcome;
      }
    } catch (error) {
      throw new UnreachableError('The stream broke off', { cause: error });
    }
    throw new UnreachableError('The stream broke off');
  }

  function show(data: JsonObject, tools: Set<string>): 'answered' | 'failed' | undefined {
    const name = textField(data, 'name');
    const once = `${textField(data, 'type')} ${textField(data, 'call_id')}`;
    switch (textField(data, 'type')) {
      case 'text':
        display.text(textField(data, 'content'));
        return undefined;
      case 'tool_call':
        if (!tools.has(once)) display.aside(`→ ${name} ${shortened(JSON.stringify(data.args ?? {}))}`);
        break;
      case 'tool_result':
      case 'async_tool_result':
        if (!tools.has(once)) display.aside(`← ${name} ${shortened(JSON.stringify(data.result ?? null))}`);
        break;
      case 'complete':
        return 'answered';
      case 'error':
        display.aside(`! ${textField(data, 'message')}`);
        return 'failed';
    }
    tools.add(once);
    return undefined;
  }
}
