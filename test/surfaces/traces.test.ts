import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openHouse, type House } from '../support/house.js';
import { startCollector, type Collector, type ReceivedSpan } from '../support/otlp.js';
import { getTime } from '../support/tools.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';

let collector: Collector;
let house: House;
beforeEach(async () => {
  collector = await startCollector();
  house = await openHouse({ tools: [getTime], metrics: { token: null }, collector: collector.url });
});
afterEach(async () => {
  await house.close();
  await collector.close();
});

/** What has been traced until now; nothing more is after it. */
async function spans(): Promise<readonly ReceivedSpan[]> {
  await house.close();
  return collector.spans;
}

/** The one span of this name, among those of a trace. */
function named(all: readonly ReceivedSpan[], name: string, traceId?: string): ReceivedSpan {
  const found = all.filter(
    (span) => span.name === name && (traceId === undefined || span.traceId === traceId),
  );
  const [span] = found;
  if (span === undefined || found.length > 1) {
    throw new Error(`${String(found.length)} of ${name} among ${all.map((one) => one.name).join(', ')}`);
  }
  return span;
}

/** Children of a span, in the order in which they ended. */
const below = (all: readonly ReceivedSpan[], { id }: ReceivedSpan) =>
  all.filter(({ parentId }) => parentId === id).map(({ name }) => name);

/** A turn that calls a tool and then says something. */
async function talk(asked: Promise<unknown>): Promise<void> {
  const first = await house.rig.next();
  first.call('call-7', 'get_time', { zone: 'secret zone' }).end({ inputTokens: 10, outputTokens: 2 });
  const second = await house.rig.next();
  second.text('It is late.').end({ inputTokens: 20, outputTokens: 3 });
  await asked;
}

describe('traces', () => {
  it('show a turn on the current surface within its request, within the caller’s trace', async () => {
    const session = randomUUID();
    await talk(
      house.ask('POST', '/api/chat?message=secret%20words', {
        session,
        headers: { Prefer: 'wait=60', traceparent: `00-${TRACE}-${CALLER}-01` },
      }),
    );
    const all = (await spans()).filter(({ traceId }) => traceId === TRACE);
    const request = named(all, 'POST /api/chat');
    expect(request).toMatchObject({ parentId: CALLER, kind: 2, status: 0 });
    expect(request.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/api/chat',
      'http.response.status_code': 200,
      'diptych.surface': 'current',
    });
    expect(request.resource).toMatchObject({ 'service.name': 'house', 'service.version': '1.2.3' });

    const turn = named(all, 'invoke_agent default');
    expect(turn.parentId).toBe(request.id);
    expect(turn.attributes).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'default',
      'gen_ai.conversation.id': session.slice(0, 8),
      'gen_ai.provider.name': 'test',
      'gen_ai.request.model': 'scripted',
      'diptych.attempt': 1,
      'diptych.outcome': 'complete',
    });
    expect(below(all, turn)).toEqual([
      'chat scripted',
      'execute_tool get_time',
      'chat scripted',
      'chat scripted',
    ]);
    const [asking, answering, titling] = all.filter(({ name }) => name === 'chat scripted');
    expect(asking?.kind).toBe(3);
    expect(asking?.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.conversation.id': session.slice(0, 8),
      'gen_ai.provider.name': 'test',
      'gen_ai.request.model': 'scripted',
      'gen_ai.request.stream': true,
      'gen_ai.response.finish_reasons': ['tool_calls'],
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 2,
      'diptych.purpose': 'answer',
      'diptych.rig': 'scripted',
    });
    expect(answering?.attributes).toMatchObject({
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.output_tokens': 3,
      'gen_ai.response.time_to_first_chunk': expect.any(Number),
    });
    expect(titling).toMatchObject({
      attributes: { 'diptych.purpose': 'title', 'error.type': 'failed' },
      status: 2,
    });
    expect(named(all, 'execute_tool get_time').attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.conversation.id': session.slice(0, 8),
      'gen_ai.tool.call.id': 'call-7',
      'gen_ai.tool.name': 'get_time',
      'gen_ai.tool.type': 'function',
    });
  });

  it('show the same on the legacy surface, and hold nothing of what was said', async () => {
    const session = randomUUID();
    await talk(house.ask('POST', '/legacy/api/thread/chat', { session, body: { text: 'secret words' } }));
    await house.ask('GET', `/legacy/api/thread/state?session_id=${session}`);
    await house.ask('GET', `/api/sessions/${session}`);
    const all = await spans();
    const request = named(all, 'POST /legacy/api/thread/chat');
    expect(request).toMatchObject({ parentId: '', attributes: { 'diptych.surface': 'legacy' } });
    const turn = named(all, 'invoke_agent default');
    expect([turn.traceId, turn.parentId]).toEqual([request.traceId, request.id]);
    expect(below(all, turn).slice(0, 3)).toEqual(['chat scripted', 'execute_tool get_time', 'chat scripted']);
    named(all, 'GET /api/sessions/:id');
    for (const word of [session, session.slice(9), 'secret', 'late', '12:00']) {
      expect(collector.bytes()).not.toContain(word);
    }
  });

  it('give a turn that waited to the request that brought it', async () => {
    const session = randomUUID();
    const other = TRACE.replace('0', '1');
    const ask = (message: string, traceId: string) =>
      house.ask('POST', `/api/chat?message=${message}`, {
        session,
        headers: { traceparent: `00-${traceId}-${CALLER}-01` },
      });
    await ask('one', TRACE);
    const first = await house.rig.next();
    await ask('two', other);
    first.text('One.').end();
    (await house.rig.next()).text('Two.').end();
    await house.ask('POST', '/api/chat?message=three', { session, headers: { Prefer: 'wait=0' } });
    (await house.rig.next()).text('Three.').end();
    // Ends after the others.
    await house.ask('POST', '/api/interrupt', { session });
    const all = await spans();
    for (const traceId of [TRACE, other]) {
      const request = named(all, 'POST /api/chat', traceId);
      expect(named(all, 'invoke_agent default', traceId).parentId).toBe(request.id);
    }
  });

  it('distinguish failures by kind, and tool calls outside of turns', async () => {
    const session = randomUUID();
    const asked = house.ask('POST', '/api/chat?message=x', { session, headers: { Prefer: 'wait=60' } });
    (await house.rig.next()).call('c', 'no_such_tool').call('d', 'get_time', { zone: 7 }).end();
    (await house.rig.next()).fail(new Error('secret reason'));
    await asked;
    await house.ask('POST', '/api/tools', { session, body: { name: 'get_time' } });
    await house.ask('PROPFIND', '/secret/path');
    await house.ask('GET', '/api/health');
    const all = await spans();
    expect(named(all, 'invoke_agent default')).toMatchObject({
      attributes: { 'error.type': 'failed', 'diptych.outcome': 'failed' },
      status: 2,
    });
    // Its name would be the model's own words.
    expect(named(all, 'execute_tool unknown')).toMatchObject({
      attributes: { 'error.type': 'refused' },
      status: 2,
    });
    const request = named(all, 'POST /api/tools');
    expect(below(all, request)).toEqual(['execute_tool get_time']);
    expect(named(all, '_OTHER unknown').attributes).toMatchObject({ 'http.response.status_code': 404 });
    expect(all.map(({ name }) => name)).not.toContain('GET /api/health');
    expect(collector.bytes()).not.toContain('no_such_tool');
    expect(collector.bytes()).not.toContain('secret');
  });

  it.each([
    ['is not sampled by its caller', `00-${TRACE}-${CALLER}-00`, 0],
    ['has no valid place', `00-${TRACE}-0000000000000000-01`, 1],
    ['is of no version', `ff-${TRACE}-${CALLER}-01`, 1],
    ['has too many parts', `00-${TRACE}-${CALLER}-01-more`, 1],
    ['is of a later version', `01-${TRACE}-${CALLER}-01-more`, 1],
  ])('of a request whose trace %s', async (_, traceparent, count) => {
    await house.ask('GET', '/api/control/models', { session: randomUUID(), headers: { traceparent } });
    const roots = (await spans()).map(({ parentId }) => parentId === CALLER);
    expect(roots).toEqual(count === 0 ? [] : [traceparent.startsWith('01')]);
  });
});
