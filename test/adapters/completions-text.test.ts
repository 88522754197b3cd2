import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createModelRig } from '../../src/adapters/models/create-rig.js';
import type { RigPart } from '../../src/core/ports/rig.js';
import { endChunk, startUpstream, textChunk, toolChunk, type Reply } from '../support/upstream.js';
import { ADD, ask, dialects, failure, KEY } from './ai-sdk-dialects.js';
import { scriptedCompletions } from './scripted-completions.js';

describe('a refusal of the model', () => {
  it.each(['openai-compatible', 'openai'] as const)('is shown, and %s declines', async (provider) => {
    const dialect = dialects.find((candidate) => candidate.provider === provider);
    if (dialect === undefined) throw new Error(provider);
    const upstream = await startUpstream();
    upstream.next((reply) => {
      reply.open();
      for (const piece of ["I'm sorry, ", 'no.']) refuse(reply, provider, piece);
      dialect.finish(reply);
    });
    const rig = createModelRig({
      ...{ id: 'r', name: 'R', provider, model: dialect.model, apiKey: KEY, contextTokens: 8_000 },
      baseUrl: `${upstream.url}${dialect.basePath}`,
    });
    const parts: RigPart[] = [];
    const responding = rig.respond(ask('hi'), new AbortController().signal, (part) => parts.push(part));
    expect(await failure(responding)).toMatchObject({ cause: { fault: 'declined' } });
    expect(parts).toEqual([
      { type: 'text', text: "I'm sorry, " },
      { type: 'text', text: 'no.' },
      { type: 'end', usage: { inputTokens: 7, outputTokens: 3 } },
    ]);
    await upstream.close();
  });

  function refuse(reply: Reply, provider: 'openai-compatible' | 'openai', refusal: string): void {
    if (provider === 'openai-compatible') {
      reply.event({ choices: [{ index: 0, delta: { refusal }, finish_reason: null }] });
      return;
    }
    const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'in_progress', content: [] };
    if (refusal.startsWith('I')) reply.event({ type: 'response.output_item.added', output_index: 0, item });
    const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
    reply.event({ type: 'response.refusal.delta', ...place, delta: refusal });
  }
});

describe('reasoning in the content', () => {
  const rig = scriptedCompletions();
  const shown = (...pieces: readonly string[]) =>
    rig.textOf(ask('hi'), { events: [...pieces.map(textChunk), endChunk()] });

  it.each([
    ['<think>\nHm.\n</think>\n\nHello', 'Hello'],
    ['<think>\n\n</think>\n\nHello', 'Hello'],
    ['<think></think>Hello', 'Hello'],
    ['\n \n<think>a < b, </b></think>  Hello ', 'Hello '],
    ['<think>one</think>Two <think>three</think> four', 'Two <think>three</think> four'],
    ['The tag <think> begins it, </think> ends it.', 'The tag <think> begins it, </think> ends it.'],
    ['reasoning without its opening tag</think>Hello', 'reasoning without its opening tag</think>Hello'],
    ['<thinking>loud</thinking>', '<thinking>loud</thinking>'],
    ['\n  <th', '\n  <th'],
    ['  two words', '  two words'],
    ['<think>never closed </think', ''],
    ['<think>no words</think>\n', ''],
  ])('of %j shows %j, however it is cut', async (content, expected) => {
    expect(await shown(content)).toBe(expected);
    expect(await shown(...Array.from(content))).toBe(expected);
    for (let at = 1; at < content.length; at++)
      expect(await shown(content.slice(0, at), content.slice(at))).toBe(expected);
  });

  it('is removed from a response with a call', async () => {
    const call = toolChunk(0, { id: 'a', name: 'math_add', arguments: '{}' });
    const events = [textChunk('<think>I add.</think>\n'), call, endChunk('tool_calls')];
    const parts = await rig.ask(ask('add', { tools: [ADD] }), { events });
    expect(parts.map(({ type }) => type)).toEqual(['tool_call', 'end']);
  });

  it('is no text: a response that reasoned until its limit fails', async () => {
    const events = [textChunk('<think>And then'), endChunk('length')];
    expect(await failure(rig.ask(ask('hi'), { events }))).toMatchObject({ cause: { fault: 'length' } });
    const closed = [textChunk('<think>And then</think>\n\n'), endChunk('length')];
    expect(await failure(rig.ask(ask('hi'), { events: closed }))).toMatchObject({
      cause: { fault: 'length' },
    });
  });

  it('leaves any text without a block as it is, and holds back little of it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(' ', '\n', '<', 'think', '>', '</', 'x'), { maxLength: 12 }),
        async (pieces) => {
          const text = pieces.join('');
          fc.pre(!/^\s*<think>/.test(text));
          expect(await shown(...pieces)).toBe(text);
        },
      ),
    );
    const blank = ' '.repeat(10_000);
    const parts = await rig.ask(ask('hi'), { events: [...Array.from(blank, textChunk), endChunk()] });
    expect(parts.length).toBeGreaterThan(9_000);
  });
});
