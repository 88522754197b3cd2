import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { CallMemory } from '../../src/adapters/models/call-memory.js';
import { createModelRig } from '../../src/adapters/models/create-rig.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/core/model/json.js';
import type { ToolCall } from '../../src/core/model/message.js';
import type { Rig, RigRequest } from '../../src/core/ports/rig.js';
import { startUpstream, endChunk, sayScript, textChunk, type Upstream } from '../support/upstream.js';
import { ADD, ask, collect, failure } from './ai-sdk-dialects.js';

let upstream: Upstream;
let memory: CallMemory;

beforeEach(async () => {
  upstream = await startUpstream();
  memory = new CallMemory();
});

afterEach(() => upstream.close());

function rigNamed(id: string): Rig {
  const settings = { id, name: id, provider: 'openai-compatible', model: id, apiKey: null } as const;
  return createModelRig({ ...settings, baseUrl: `${upstream.url}/v1`, contextTokens: 8_000 }, memory);
}

/** The history after a step with these calls, in a session. */
function after(calls: readonly ToolCall[], sessionId = 's'): RigRequest {
  const toolResults = calls.map(({ callId, name }) => ({
    ...{ callId, name, result: 3, failed: false, multiStep: false },
  }));
  const step = { role: 'assistant', content: '', toolCalls: calls, toolResults } as const;
  return ask('', { sessionId, messages: [{ role: 'user', content: 'add' }, step], tools: [ADD] });
}

const callDelta = (more: JsonObject = {}, at = 0): JsonObject => ({
  tool_calls: [{ index: at, id: `c${String(at)}`, function: { name: 'math_add', arguments: '{}' }, ...more }],
});

/** Makes the model call a tool, in a response with these deltas. */
async function calls(rig: Rig, deltas: readonly JsonObject[], sessionId = 's'): Promise<ToolCall[]> {
  upstream.next((reply) => {
    reply.open();
    for (const delta of deltas) reply.event({ choices: [{ index: 0, delta, finish_reason: null }] });
    reply.event(endChunk('tool_calls'));
    reply.event('[DONE]');
  });
  const parts = await collect(rig, ask('add', { sessionId, tools: [ADD] }));
  return parts.flatMap((part) => (part.type === 'tool_call' ? [part.call] : []));
}

/** The assistant's message in the n-th request from the end. */
function sent(fromEnd = 1): JsonObject {
  const body = upstream.requests.at(-fromEnd)?.body;
  const messages = isJsonObject(body) ? listOf(body.messages) : [];
  return messages.find(({ role }) => role === 'assistant') ?? {};
}

function listOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function refuseOnce(message: string, status = 400): void {
  upstream.next((reply) => {
    reply.json(status, { error: { message, type: 'invalid_request_error' } });
  });
}

const THOUGHT = { reasoning_content: 'I add.' };

describe('the reasoning of a step with calls', () => {
  it('is sent back in its fields, only in the session and to the rig that it came from', async () => {
    const [rig, other] = [rigNamed('a'), rigNamed('b')];
    const made = await calls(rig, [THOUGHT, callDelta()]);
    upstream.always(sayScript('3'));
    await collect(rig, after(made));
    expect(sent()).toMatchObject(THOUGHT);
    for (const [elsewhere, session] of [[other, 's'] as const, [rig, 't'] as const]) {
      await collect(elsewhere, after(made, session));
      expect(Object.keys(sent())).toEqual(['role', 'content', 'tool_calls']);
    }
  });

  it('is sent back with each of several calls that has some, even if the name of a call comes late', async () => {
    const rig = rigNamed('a');
    const extra = { google: { thought_signature: 'one' } };
    const made = await calls(rig, [
      { tool_calls: [{ index: 0, id: 'c0', function: { arguments: '' }, extra_content: extra }] },
      { tool_calls: [{ index: 0, function: { name: 'math_add', arguments: '{}' } }] },
      callDelta({}, 1),
    ]);
    upstream.always(sayScript('3'));
    await collect(rig, after(made));
    expect(listOf(sent().tool_calls).map(({ id, extra_content: own }) => [id, own])).toEqual([
      ['c0', extra],
      ['c1', undefined],
    ]);
  });

  it('counts toward the context window as far as it is sent', async () => {
    const rig = rigNamed('a');
    const [made] = await calls(rig, [{ reasoning_content: 'I add. '.repeat(100) }, callDelta()]);
    await calls(rig, [callDelta()], 'bare');
    const tokensOf = (isPast: boolean, session = 's') =>
      rig.attachedTokens(session, made?.callId ?? '', isPast);
    expect(tokensOf(false)).toBeGreaterThan(150);
    expect(tokensOf(true)).toBeLessThan(15);
    expect([tokensOf(false, 'bare'), tokensOf(false, 'other')]).toEqual([0, 0]);
    refuseOnce('property reasoning_content is unsupported');
    upstream.always(sayScript('3'));
    await collect(rig, after(made === undefined ? [] : [made]));
    expect(tokensOf(false)).toBe(0);
  });

  it('joins the pieces of its details', async () => {
    const rig = rigNamed('a');
    const detail = { type: 'reasoning.text', format: 'anthropic-claude-v1' };
    const pieces: JsonObject[] = [
      { ...detail, index: 0, text: 'Let' },
      { ...detail, index: 0, text: ' me add.', signature: null },
      { ...detail, index: 0, signature: 'signed' },
      { ...detail, index: 1, text: 'And check.' },
      { type: 'reasoning.encrypted', data: 'x', index: 1 },
      { type: 'reasoning.encrypted', data: 'y', index: 1 },
    ];
    const deltas = pieces.map((piece) => ({ reasoning: piece.text ?? null, reasoning_details: [piece] }));
    const made = await calls(rig, [...deltas, callDelta()]);
    upstream.always(sayScript('3'));
    await collect(rig, after(made));
    expect(sent().reasoning_details).toEqual([
      { ...detail, index: 0, text: 'Let me add.', signature: 'signed' },
      { ...detail, index: 1, text: 'And check.' },
      ...pieces.slice(4),
    ]);
    expect(sent().reasoning).toBeUndefined();
  });

  it('keeps details that come in many short pieces', async () => {
    const rig = rigNamed('a');
    const piece = { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0, text: 'abcd' };
    const deltas = Array.from({ length: 20_000 }, () => ({ reasoning: 'abcd', reasoning_details: [piece] }));
    const made = await calls(rig, [...deltas, callDelta()]);
    upstream.always(sayScript('3'));
    await collect(rig, after(made));
    expect(sent().reasoning_details).toEqual([{ ...piece, text: 'abcd'.repeat(20_000) }]);
  });

  it('is sent as a blank, with signatures, in later turns', async () => {
    const rig = rigNamed('a');
    const encrypted = { type: 'reasoning.encrypted', data: 'x', index: 1 };
    const details = [{ type: 'reasoning.text', text: 'I add.', index: 0 }, encrypted];
    const made = await calls(rig, [{ ...THOUGHT, reasoning_details: details }, callDelta()]);
    upstream.always(sayScript('3'));
    const request = after(made);
    const messages = [...request.messages, { role: 'user', content: 'and now?' } as const];
    await collect(rig, { ...request, messages });
    expect(sent()).toMatchObject({ reasoning_content: ' ', reasoning_details: [encrypted] });
  });

  const deep = (levels: number): JsonObject =>
    levels === 0 ? {} : { type: 'reasoning.text', in: deep(levels - 1) };

  it.each<[string, JsonObject[]]>([
    ['long text', [{ reasoning_content: 'a'.repeat(600_000) }, { reasoning_content: 'a'.repeat(600_000) }]],
    ['long details', [{ reasoning_details: [{ type: 'x', data: 'a'.repeat(1_100_000) }] }]],
    ['many details', [{ reasoning_details: Array.from({ length: 1_001 }, () => ({ type: 'x' })) }]],
    ['deep details', [{ reasoning_details: [deep(100)] }]],
    ['details of another kind', [{ reasoning_details: [1, null, 'a', [[]]] }]],
    ['empty text', [{ reasoning_content: '', reasoning: null, reasoning_details: [] }]],
    ['text of another kind', [{ reasoning_content: { a: 1 }, reasoning: 4, reasoning_details: 'a' }]],
  ])('is dropped if it is %s', async (_what, deltas) => {
    const rig = rigNamed('a');
    const made = await calls(rig, [...deltas, callDelta()]);
    expect(made).toHaveLength(1);
    upstream.always(sayScript('3'));
    await collect(rig, after(made));
    expect(Object.keys(sent())).toEqual(['role', 'content', 'tool_calls']);
  });

  it('has no effect without calls', async () => {
    const rig = rigNamed('a');
    upstream.next((reply) => {
      reply.open();
      reply.event({ choices: [{ index: 0, delta: THOUGHT, finish_reason: null }] });
      reply.event(textChunk('Hi.'));
      reply.event(endChunk());
      reply.event('[DONE]');
    });
    expect(await collect(rig, ask('hi'))).toMatchObject([{ type: 'text', text: 'Hi.' }, { type: 'end' }]);
  });
});

describe('a refusal', () => {
  it('of reasoning as too long makes the rig send a blank in its place, once', async () => {
    const rig = rigNamed('a');
    const made = await calls(rig, [THOUGHT, callDelta()]);
    upstream.always(sayScript('3'));
    for (const message of [
      'messages.1.reasoning_content 长度超过允许上限',
      "This model's maximum context length is 8192 tokens",
    ]) {
      refuseOnce(message);
      await collect(rig, after(made));
      expect(sent(2)).toMatchObject(THOUGHT);
      expect(sent()).toMatchObject({ reasoning_content: ' ' });
    }
    await collect(rig, after(made));
    expect(sent()).toMatchObject(THOUGHT);
  });

  it('of a signature as invalid makes the rig send the placeholder', async () => {
    const rig = rigNamed('a');
    const signed = { extra_content: { google: { thought_signature: 'old' } } };
    const made = await calls(rig, [callDelta(signed)]);
    upstream.always(sayScript('3'));
    refuseOnce('Unable to submit request because Thought signature is not valid');
    await collect(rig, after(made));
    expect(listOf(sent(2).tool_calls)).toMatchObject([signed]);
    const placeholder = { google: { thought_signature: 'skip_thought_signature_validator' } };
    expect(listOf(sent().tool_calls)).toMatchObject([{ extra_content: placeholder }]);
  });

  it('of a signature as invalid concerns that thread alone', async () => {
    const rig = rigNamed('a');
    const signed = { extra_content: { google: { thought_signature: 'good' } } };
    const [broken, fine] = [
      await calls(rig, [callDelta(signed)], 's'),
      await calls(rig, [callDelta(signed)], 't'),
    ];
    upstream.always(sayScript('3'));
    refuseOnce('Thought signature is not valid');
    await collect(rig, after(broken, 's'));
    await collect(rig, after(fine, 't'));
    expect(listOf(sent().tool_calls)).toMatchObject([signed]);
  });

  it.each([
    "Invalid field 'reasoning_content'",
    'This model does not support reasoning_content',
    'reasoning_content is only allowed for other models',
  ])('of reasoning in the words "%s" makes the rig send none', async (words) => {
    const rig = rigNamed('a');
    const made = await calls(rig, [THOUGHT, callDelta()]);
    upstream.always(sayScript('3'));
    refuseOnce(words);
    for (let times = 0; times < 2; times++) {
      await collect(rig, after(made));
      expect(sent().reasoning_content).toBeUndefined();
    }
    expect(upstream.requests).toHaveLength(4);
  });

  it.each(['Provider returned error', "Invalid schema for function 'add'", 'gemini'.repeat(170_000)])(
    'for another reason is final, and changes nothing (%#)',
    async (words) => {
      const rig = rigNamed('a');
      const made = await calls(rig, [THOUGHT, callDelta()]);
      refuseOnce(words);
      await failure(collect(rig, after(made)));
      expect(upstream.requests).toHaveLength(2);
      upstream.always(sayScript('3'));
      await collect(rig, after(made));
      expect(sent()).toMatchObject(THOUGHT);
    },
  );

  it('of the second request, too, is for the reason of the first', async () => {
    const rig = rigNamed('a');
    const made = await calls(rig, [THOUGHT, callDelta()]);
    refuseOnce('Unknown name for a tool');
    refuseOnce('Something else');
    const error = await failure(collect(rig, after(made)));
    expect(upstream.requests).toHaveLength(3);
    expect(error).toMatchObject({ cause: { words: expect.stringContaining('Unknown name for a tool') } });
  });

  it('of the second request is final', async () => {
    const rig = rigNamed('a');
    const made = await calls(rig, [THOUGHT, callDelta()]);
    upstream.always((reply) => {
      reply.json(400, {
        error: { message: 'reasoning_content must be passed back', type: 'invalid_request_error' },
      });
    });
    const error = await failure(collect(rig, after([...made, { callId: 'x', name: 'math.add', args: {} }])));
    expect(error).toMatchObject({ info: { retryable: false } });
    // The first message has its reasoning, so there is nothing to add.
    expect(upstream.requests).toHaveLength(2);
    await failure(collect(rig, after([{ callId: 'x', name: 'math.add', args: {} }])));
    expect(upstream.requests).toHaveLength(4);
  });

  it.each([
    [401, 'reasoning_content is missing'],
    [429, 'reasoning_content is missing'],
    [500, 'reasoning_content is missing'],
    [400, 'temperature is out of range'],
    [400, "property 'reasoning_content' is unsupported"],
  ])('with status %i and the words "%s" sends no placeholder', async (status, message) => {
    const rig = rigNamed('a');
    upstream.always((reply) => {
      reply.json(status, { error: { message } });
    });
    await failure(collect(rig, after([{ callId: 'x', name: 'math.add', args: {} }])));
    expect(upstream.requests).toHaveLength(1);
  });

  it('after an abort is not answered', async () => {
    const rig = rigNamed('a');
    const controller = new AbortController();
    const reason = new Error('stopped');
    upstream.always((reply) => {
      controller.abort(reason);
      reply.json(400, { error: { message: 'reasoning_content is missing' } });
    });
    const call = { callId: 'x', name: 'math.add', args: {} };
    expect(await failure(collect(rig, after([call]), controller.signal))).toBe(reason);
    expect(upstream.requests).toHaveLength(1);
  });
});

describe('CallMemory', () => {
  const attached = (text: string) => ({ message: { reasoning_content: text } });

  it('drops the oldest calls beyond its number of calls', () => {
    const known = new CallMemory({ calls: 2, characters: 1_000 }).ofSession('m', 's');
    for (const id of ['a', 'b', 'a', 'c']) known.remember(id, attached(id));
    expect(['a', 'b', 'c'].map((id) => known.recall(id) !== undefined)).toEqual([true, false, true]);
  });

  it('drops the oldest calls beyond its number of characters, and keeps none that exceeds it', () => {
    const own = new CallMemory({ calls: 100, characters: 1_000 });
    const known = own.ofSession('m', 's');
    for (const id of ['a', 'b', 'c']) known.remember(id, attached(id.repeat(300)));
    expect(['a', 'b', 'c'].map((id) => known.recall(id) !== undefined)).toEqual([false, true, true]);
    known.remember('c', attached('c'.repeat(1_000)));
    expect(['b', 'c'].map((id) => known.recall(id) !== undefined)).toEqual([true, false]);
    known.remember('d', attached('d'.repeat(500)));
    expect(['b', 'd'].map((id) => known.recall(id) !== undefined)).toEqual([true, true]);
  });

  it('keeps sessions and rigs apart', () => {
    const own = new CallMemory();
    own.ofSession('m', 's').remember('c', attached('one'));
    own.ofSession('m').remember('c', attached('two'));
    expect(own.ofSession('m', 's').recall('c')).toEqual(attached('one'));
    expect(own.ofSession('m', 't').recall('c')).toBeUndefined();
    expect(own.ofSession('n', 's').recall('c')).toBeUndefined();
  });
});
