import { CallMemory } from '../../src/adapters/models/call-memory.js';
import type { Endpoint } from '../../src/adapters/models/endpoint.js';
import type { ModelHttpClient } from '../../src/adapters/models/http/client.js';
import { createCompletions } from '../../src/adapters/models/openai-compatible/respond.js';
import type { RigOptions } from '../../src/core/rigs/rig-options.js';
import { isJsonObject, type JsonObject } from '../../src/core/model/json.js';
import type { RigPart, RigRequest } from '../../src/core/ports/rig.js';

/** A response of a server of chat completions: the events of a stream, or an error. */
export interface ScriptedAnswer {
  readonly status?: number;
  /** The body of an error. */
  readonly error?: unknown;
  readonly events?: readonly unknown[];
  /** In place of events: the whole body, which arrives byte by byte. */
  readonly body?: string;
}

/** A rig of chat completions, and the server behind it. */
export interface ScriptedCompletions {
  /** Sends a request, which gets this response. @param take receives each part as it comes */
  ask(request: RigRequest, answer?: ScriptedAnswer, take?: (part: RigPart) => void): Promise<RigPart[]>;
  /** The text of the response. */
  textOf(request: RigRequest, answer: ScriptedAnswer): Promise<string>;
  /** The body of the last request. */
  readonly sent: JsonObject;
}

const never = new AbortController().signal;
const COMPLETE = { events: [{ choices: [{ index: 0, delta: { content: 'ok' }, finish_reason: 'stop' }] }] };

/** Creates a rig whose server at `baseUrl` exists only in the test. */
export function scriptedCompletions(
  baseUrl = 'http://127.0.0.1:9/v1',
  options: RigOptions = {},
): ScriptedCompletions {
  let sent: JsonObject = {};
  let answer: ScriptedAnswer = COMPLETE;
  const endpoint: Endpoint = {
    ...{ provider: 'openai-compatible', model: 'local', baseUrl, apiKey: 'sk-1', options },
    fetch: () => Promise.reject(new Error('not to be used')),
  };
  const client: Pick<ModelHttpClient, 'open'> = {
    open({ body }, listener) {
      const value: unknown = JSON.parse(body ?? '');
      if (!isJsonObject(value)) throw new Error('the request is not an object');
      sent = value;
      const ignore = (): undefined => undefined;
      const response = { pause: ignore, resume: ignore, cancel: ignore };
      const { status = 200, error, events = [], body: whole } = answer;
      const type = error === undefined ? 'text/event-stream' : 'application/json';
      listener.onResponse({ status, statusText: '', headers: { 'content-type': type } }, response);
      const pieces = error === undefined ? events.map(eventOf) : [JSON.stringify({ error })];
      for (const piece of pieces) listener.onData(Buffer.from(piece));
      for (const byte of Buffer.from(whole ?? '')) listener.onData(Buffer.of(byte));
      listener.onEnd();
      return response;
    },
  };
  const { respond } = createCompletions(endpoint, client, () => new CallMemory().ofSession('local'));
  async function ask(
    request: RigRequest,
    next: ScriptedAnswer = COMPLETE,
    take?: (part: RigPart) => void,
  ): Promise<RigPart[]> {
    answer = next;
    const parts: RigPart[] = [];
    await respond(request, never, (part) => {
      parts.push(part);
      take?.(part);
    });
    return parts;
  }
  return {
    ask,
    async textOf(request, next) {
      const parts = await ask(request, next);
      return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
    },
    get sent() {
      return sent;
    },
  };
}

function eventOf(event: unknown): string {
  return `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`;
}
