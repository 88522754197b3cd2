import type { JsonObject } from '../../src/core/model/json.js';
import type { Rig, RigPart, RigRequest } from '../../src/core/ports/rig.js';
import { createModelRig, type RigSettings } from '../../src/adapters/models/create-rig.js';
import { endChunk, textChunk, toolChunk, type Reply } from '../support/upstream.js';

/** How a provider writes on the wire, as far as faults need it. */
export interface Dialect {
  readonly provider: RigSettings['provider'];
  readonly basePath: string;
  readonly model: string;
  /** The header that carries the key, and its value. */
  readonly auth: readonly [string, string];
  /** Opens the stream and says one piece of text. */
  say(reply: Reply, text: string): void;
  /** Sends a whole answer with calls of `math_add`, by these ids, with these texts as arguments. */
  call(reply: Reply, calls: readonly { readonly id: string; readonly args: string }[]): void;
  /** Ends the stream as a complete answer. */
  finish(reply: Reply): void;
}

export const KEY = 'sk-very-secret-0123456789';

export const dialects: readonly Dialect[] = [
  {
    provider: 'openai-compatible',
    basePath: '/v1',
    model: 'local-model',
    auth: ['authorization', `Bearer ${KEY}`],
    say(reply, text) {
      reply.open();
      reply.event(textChunk(text));
    },
    call(reply, calls) {
      reply.open();
      for (const [index, { id, args }] of calls.entries())
        reply.event(toolChunk(index, { id, name: 'math_add', arguments: args }));
      reply.event(endChunk('tool_calls'));
      reply.event('[DONE]');
    },
    finish(reply) {
      reply.event(endChunk());
      reply.event('[DONE]');
    },
  },
  {
    provider: 'openai',
    basePath: '/v1',
    model: 'gpt-4o',
    auth: ['authorization', `Bearer ${KEY}`],
    say(reply, text) {
      const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'in_progress', content: [] };
      reply.open();
      reply.event({
        type: 'response.created',
        response: { id: 'resp_1', created_at: 1_700_000_000, model: 'gpt-4o' },
      });
      reply.event({ type: 'response.output_item.added', output_index: 0, item });
      reply.event({
        type: 'response.output_text.delta',
        item_id: 'msg_1',
        output_index: 0,
        content_index: 0,
        delta: text,
      });
    },
    call(reply, calls) {
      reply.open();
      reply.event({
        type: 'response.created',
        response: { id: 'resp_1', created_at: 1_700_000_000, model: 'gpt-4o' },
      });
      for (const [output_index, { id, args }] of calls.entries()) {
        const item = { type: 'function_call', id: `fc_${id}`, call_id: id, name: 'math_add' };
        const added = { ...item, arguments: '', status: 'in_progress' };
        reply.event({ type: 'response.output_item.added', output_index, item: added });
        const done = { ...item, arguments: args, status: 'completed' };
        reply.event({ type: 'response.output_item.done', output_index, item: done });
      }
      this.finish(reply);
    },
    finish(reply) {
      const usage = { input_tokens: 7, output_tokens: 3, total_tokens: 10 };
      reply.event({
        type: 'response.completed',
        response: { id: 'resp_1', created_at: 1_700_000_000, model: 'gpt-4o', status: 'completed', usage },
      });
    },
  },
  {
    provider: 'anthropic',
    basePath: '/v1',
    model: 'claude-sonnet-4-5',
    auth: ['x-api-key', KEY],
    say(reply, text) {
      const message = {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'claude-sonnet-4-5',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 7, output_tokens: 1 },
      };
      reply.open();
      named(reply, { type: 'message_start', message });
      named(reply, { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
      named(reply, { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
    },
    call(reply, calls) {
      this.say(reply, 'I add.');
      named(reply, { type: 'content_block_stop', index: 0 });
      for (const [at, { id, args }] of calls.entries()) {
        const index = at + 1;
        const block = { type: 'tool_use', id, name: 'math_add', input: {} };
        named(reply, { type: 'content_block_start', index, content_block: block });
        const delta = { type: 'input_json_delta', partial_json: args };
        named(reply, { type: 'content_block_delta', index, delta });
        named(reply, { type: 'content_block_stop', index });
      }
      named(reply, {
        type: 'message_delta',
        delta: { stop_reason: 'tool_use', stop_sequence: null },
        usage: { output_tokens: 3 },
      });
      named(reply, { type: 'message_stop' });
    },
    finish(reply) {
      named(reply, { type: 'content_block_stop', index: 0 });
      named(reply, {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: 3 },
      });
      named(reply, { type: 'message_stop' });
    },
  },
  {
    provider: 'google',
    basePath: '/v1beta',
    model: 'gemini-2.5-flash',
    auth: ['x-goog-api-key', KEY],
    say(reply, text) {
      reply.open();
      reply.event({ candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0 }] });
    },
    call(reply, calls) {
      reply.open();
      const parts = calls.map(({ id, args }) => {
        const value: unknown = JSON.parse(args);
        return { functionCall: { id, name: 'math_add', args: value } };
      });
      reply.event({ candidates: [{ content: { role: 'model', parts }, index: 0 }] });
      this.finish(reply);
    },
    finish(reply) {
      reply.event({
        candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP', index: 0 }],
        usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3, totalTokenCount: 10 },
      });
    },
  },
];

function named(reply: Reply, event: { type: string } & Record<string, unknown>): void {
  reply.event(event, event.type);
}

/** A rig of a dialect at an upstream. */
export function rigAt(url: string, dialect: Dialect, changes: Partial<RigSettings> = {}) {
  return createModelRig({
    id: 'under-test',
    name: 'Under test',
    provider: dialect.provider,
    model: dialect.model,
    baseUrl: `${url}${dialect.basePath}`,
    apiKey: KEY,
    contextTokens: 8_000,
    ...changes,
  });
}

/** A request that asks one thing. */
export function ask(text: string, changes: Partial<RigRequest> = {}): RigRequest {
  return {
    purpose: 'answer',
    instructions: 'Be kind.',
    messages: [{ role: 'user', content: text }],
    tools: [],
    ...changes,
  };
}

export const ADD: RigRequest['tools'][number] = {
  name: 'math.add',
  description: 'Adds two numbers.',
  parameters: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
  } satisfies JsonObject,
};

/** All parts of an answer. */
export async function collect(
  rig: Pick<Rig, 'respond'>,
  request: RigRequest,
  signal = new AbortController().signal,
): Promise<RigPart[]> {
  const all: RigPart[] = [];
  await rig.respond(request, signal, (part) => all.push(part));
  return all;
}

/** What a promise rejects with. */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it should have failed');
}
