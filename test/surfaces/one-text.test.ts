import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../../src/core/model/json.js';
import type { Tool } from '../../src/core/ports/tool.js';
import { serveScripted } from '../support/http.js';
import { messagesOf } from '../support/snapshot.js';
import { openStream, type OpenStream } from '../support/sse.js';
import { climb } from '../support/tools.js';

const echo: Tool = {
  ...climb,
  run: (args, context) => {
    context.progress('half\0way\ud800');
    return Promise.resolve({ 'key\0': '\ud800lone\0', args });
  },
};
const stumble: Tool = { ...climb, name: 'stumble', run: () => Promise.reject(new Error('a\0b\udc00')) };

let server: Awaited<ReturnType<typeof serveScripted>>;
let session: string;

beforeEach(async () => {
  server = await serveScripted({ surfaces: ['legacy', 'current'], tools: [echo, stumble] });
  session = randomUUID();
});
afterEach(() => server.close());

function chat(text: string): Promise<OpenStream> {
  return openStream(`${server.url}/api/thread/chat`, {
    method: 'POST',
    headers: { 'X-Session-Id': session, 'Content-Type': 'application/json', 'Idempotency-Key': text },
    body: JSON.stringify({ text }),
  });
}

function eventsOf({ events }: OpenStream): JsonObject[] {
  return events.map(({ data }) => {
    const event: unknown = JSON.parse(data);
    if (!isJsonObject(event)) throw new Error('no object');
    return event;
  });
}

function textOf(stream: OpenStream): string {
  return eventsOf(stream)
    .map(({ type, content }) => (type === 'text' && typeof content === 'string' ? content : ''))
    .join('');
}

async function recordsOf(): Promise<JsonObject[]> {
  return messagesOf((await server.ask('GET', `/api/sessions/${session}/messages`)).json);
}

describe('text of a rig', () => {
  it('is the same in stream, state, repeat and record', async () => {
    const stream = await chat('Hi');
    const asked = await server.rig.next();
    asked.text('A \ud83d', '\ude00, a NUL \0', ', \ud800 alone', ', \udc00', ' and \ud83d').end();
    await stream.end();
    const expected = 'A 😀, a NUL \uFFFD, \uFFFD alone, \uFFFD and \uFFFD';
    expect(textOf(stream)).toBe(expected);
    for (const { content } of eventsOf(stream))
      if (typeof content === 'string') expect(content.isWellFormed()).toBe(true);

    const repeat = await chat('Hi');
    await repeat.end();
    expect(textOf(repeat)).toBe(expected);
    const state = await server.ask('GET', '/api/state', { session });
    expect(messagesOf(state.json).at(-1)).toMatchObject({ content: expected });
    expect((await recordsOf()).at(-1)).toMatchObject({ content: expected });
  });

  it('is the same in the arguments and results of tools, and in what is reported of them', async () => {
    const updates = await openStream(`${server.url}/api/updates`, { headers: { 'X-Session-Id': session } });
    const stream = await chat('Hi');
    (await server.rig.next()).call('c\0', 'climb', { 'x\0': '\ud800' }).call('c2', 'stumble').end();
    const next = await server.rig.next();
    next.text('Done').end();
    await stream.end();

    const args = { 'x\uFFFD': '\uFFFD' };
    const result = { 'key\uFFFD': '\uFFFDlone\uFFFD', args };
    const failed = 'a\uFFFDb\uFFFD';
    const repeat = await chat('Hi');
    await repeat.end();
    for (const events of [eventsOf(stream), eventsOf(repeat)]) {
      expect(events).toContainEqual({ type: 'tool_call', name: 'climb', call_id: 'c\uFFFD', args });
      expect(events).toContainEqual({
        ...{ type: 'async_tool_result', call_id: 'c\uFFFD', name: 'climb', result },
      });
      expect(events).toContainEqual({
        ...{ type: 'tool_result', call_id: 'c2', name: 'stumble', result: failed },
      });
    }
    const [, step] = await recordsOf();
    expect(step).toMatchObject({
      tool_calls: [{ call_id: 'c\uFFFD', args }, { call_id: 'c2' }],
      tool_results: expect.arrayContaining([
        { call_id: 'c\uFFFD', name: 'climb', result },
        { call_id: 'c2', name: 'stumble', result: failed, status: 'failed' },
      ]),
    });
    await updates.until(
      (open) => open.events.filter(({ data }) => data.includes('"tool_complete"')).length === 2,
    );
    expect(eventsOf(updates)).toContainEqual(
      expect.objectContaining({ type: 'tool_update', message: 'half\uFFFDway\uFFFD' }),
    );
    expect(eventsOf(updates)).toContainEqual(
      expect.objectContaining({ type: 'tool_complete', result: JSON.stringify(result) }),
    );
    updates.close();
    // What the rig reads is the same.
    const [, prompt] = next.request.messages;
    expect(prompt).toMatchObject({ toolCalls: [{ callId: 'c\uFFFD', args }, { callId: 'c2' }] });
  });

  it('fails a call whose arguments are nested too deeply, not the turn', async () => {
    let args: JsonObject = {};
    for (let depth = 0; depth < 10_000; depth++) args = { args };
    const stream = await chat('Hi');
    (await server.rig.next()).call('c1', 'climb', args).end();
    (await server.rig.next()).text('Well').end();
    await stream.end();
    expect(eventsOf(stream)).toMatchObject([
      { type: 'tool_call', args: {} },
      { type: 'tool_result', result: expect.stringContaining('nested deeper than 200 levels') },
      { type: 'text' },
      { type: 'complete' },
    ]);
  });
});

describe('a message with NUL', () => {
  it('is refused, and nothing is stored', async () => {
    const current = await server.ask('POST', '/api/chat?message=a%00b', { session });
    expect(current.status).toBe(400);
    expect(current.json).toMatchObject({ code: 'invalid', details: [{ path: 'message' }] });
    const legacy = await server.ask('POST', '/api/thread/chat', { session, body: { text: 'a\0b' } });
    expect(legacy.status).toBe(400);
    expect(messagesOf((await server.ask('GET', '/api/state', { session })).json)).toEqual([]);
  });
});
