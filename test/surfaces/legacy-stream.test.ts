import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { RigError } from '../../src/core/ports/rig.js';
import { collectUntil } from '../support/core.js';
import { serveScripted } from '../support/http.js';
import { messagesOf, said } from '../support/snapshot.js';
import { openStream, type OpenStream } from '../support/sse.js';
import { climb, getTime, stumble } from '../support/tools.js';

let server: Awaited<ReturnType<typeof serveScripted>>;
let session: string;

beforeEach(async () => {
  server = await serveScripted({ surfaces: ['legacy', 'current'], tools: [getTime, climb, stumble] });
  session = randomUUID();
});
afterEach(() => server.close());

function chat(text: string, headers: Record<string, string> = {}): Promise<OpenStream> {
  return openStream(`${server.url}/api/thread/chat`, {
    method: 'POST',
    headers: { 'X-Session-Id': session, 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ text }),
  });
}

describe('the chat stream', () => {
  it('has its headers at once', async () => {
    const { response } = await chat('Hi');
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'access-control-allow-origin': '*',
    });
    expect(response.headers.has('content-encoding')).toBe(false);
  });

  it('is text as it comes, and one complete', async () => {
    const stream = await chat('Hi');
    const asked = await server.rig.next();
    asked.text('Hel');
    await stream.until(({ events }) => events.length === 1);
    asked.text('lo\n"you" ✓').end();
    expect(await stream.end()).toBe(
      'data: {"type":"text","content":"Hel"}\n\n' +
        'data: {"type":"text","content":"lo\\n\\"you\\" ✓"}\n\n' +
        'data: {"type":"complete"}\n\n',
    );
  });

  it('shows calls and results with their fields in the order of the document', async () => {
    const stream = await chat('Work');
    const asked = await server.rig.next();
    asked.text('So.').call('c1', 'get_time', { zone: 'UTC' }).call('c2', 'climb').call('c3', 'stumble').end();
    (await server.rig.next()).text('Done.').end();
    const bytes = await stream.end();
    expect(bytes).toMatch(/^(data: \{"type":"[a-z_]+".*\}\n\n)+$/);
    const frames = stream.events.map(({ data }) => data);
    const types = stream.events.map(({ data }) => /^\{"type":"(\w+)"/.exec(data)?.[1]);
    expect(types[0]).toBe('text');
    expect(types.slice(-2)).toEqual(['text', 'complete']);
    expect(types.filter((type) => type === 'tool_call')).toHaveLength(3);
    expect(frames).toContain('{"type":"tool_call","name":"get_time","call_id":"c1","args":{"zone":"UTC"}}');
    expect(frames).toContain('{"type":"tool_call","name":"climb","call_id":"c2","args":{}}');
    expect(frames).toContain(
      '{"type":"tool_result","call_id":"c1","name":"get_time","result":{"time":"12:00","zone":"UTC"}}',
    );
    expect(frames).toContain('{"type":"async_tool_result","call_id":"c2","name":"climb","result":"on top"}');
    expect(frames.find((frame) => frame.includes('"c3","name":"stumble","result"'))).toMatch(
      /^\{"type":"tool_result","call_id":"c3","name":"stumble","result":".*the ground was uneven.*"\}$/,
    );
  });

  it('ends with one error when the turn fails', async () => {
    const stream = await chat('Hi');
    const asked = await server.rig.next();
    asked.text('Half').fail(new RigError('The model is busy: try again later.', { retryable: false }));
    expect(await stream.end()).toBe(
      'data: {"type":"text","content":"Half"}\n\n' +
        'data: {"type":"error","message":"The model is busy: try again later."}\n\n',
    );
  });

  it('ends with complete when the turn is interrupted', async () => {
    const stream = await chat('Hi');
    (await server.rig.next()).text('Half');
    await stream.until(({ events }) => events.length === 1);
    await server.ask('POST', '/api/interrupt', { session });
    expect(await stream.end()).toBe(
      'data: {"type":"text","content":"Half"}\n\ndata: {"type":"complete"}\n\n',
    );
  });

  it('ends with an error that says so when the thread is deleted', async () => {
    const stream = await chat('Hi');
    (await server.rig.next()).text('Half');
    await stream.until(({ events }) => events.length === 1);
    await server.ask('DELETE', `/api/sessions/${session}`);
    const bytes = await stream.end();
    expect(stream.events.map(({ data }) => /^\{"type":"(\w+)"/.exec(data)?.[1])).toEqual(['text', 'error']);
    expect(bytes).toContain('deleted');
  });

  it('ends with an error on a drain, that says where the answer goes on', async () => {
    const stream = await chat('Hi');
    (await server.rig.next()).text('Half');
    await stream.until(({ events }) => events.length === 1);
    await server.core.drain(0);
    await stream.end();
    expect(JSON.parse(stream.events.at(-1)?.data ?? '')).toEqual({
      type: 'error',
      message: expect.stringContaining('GET /api/thread/state'),
    });
    expect(stream.events).toHaveLength(2);
  });

  it('goes on without the client', async () => {
    const stream = await chat('Hi');
    const asked = await server.rig.next();
    stream.close();
    await stream.end();
    const feed = await server.core.updates(
      { id: session, ifUnknown: 'refuse' },
      { after: null, turns: true },
    );
    asked.text('All the same').end();
    await collectUntil(feed, ({ type }) => type === 'turn_ended');
    const { json } = await server.ask('GET', `/api/thread/state?session_id=${session}`);
    expect(messagesOf(json)).toEqual([said('user', 'Hi'), said('agent', 'All the same')]);
    expect(asked.signal.aborted).toBe(false);
  });

  it('streams a turn again for a repeated idempotency key', async () => {
    const headers = { 'Idempotency-Key': 'k' };
    const first = await chat('Hi', headers);
    (await server.rig.next()).text('Hel', 'lo').end();
    await first.end();
    const again = await chat('Hi', headers);
    expect(await again.end()).toBe(
      'data: {"type":"text","content":"Hello"}\n\ndata: {"type":"complete"}\n\n',
    );
    const clash = await chat('Other', headers);
    expect(clash.response.status).toBe(422);
    expect(clash.response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  it('shows a queued message its own turn only', async () => {
    const first = await chat('One');
    const second = await chat('Two');
    (await server.rig.next()).text('1').end();
    (await server.rig.next()).text('2').end();
    expect(await first.end()).toBe('data: {"type":"text","content":"1"}\n\ndata: {"type":"complete"}\n\n');
    expect(await second.end()).toBe('data: {"type":"text","content":"2"}\n\ndata: {"type":"complete"}\n\n');
  });
});
