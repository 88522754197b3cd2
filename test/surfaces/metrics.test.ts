import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from '@jest/globals';
import { openHouse, type House } from '../support/house.js';
import { parseScrape, type Scrape } from '../support/prometheus.js';
import { connectTo, sendRaw } from '../support/raw.js';
import { getTime } from '../support/tools.js';

let house: House;
afterEach(() => house.close());

const open = async (token: string | null = null): Promise<House> =>
  (house = await openHouse({ tools: [getTime], metrics: { token } }));

async function scrape(): Promise<Scrape> {
  const answer = await house.ask('GET', '/metrics');
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ]);
  return parseScrape(answer.text);
}

/** A turn that calls a tool and then says something. */
async function talk(ask: () => Promise<unknown>): Promise<void> {
  const asked = ask();
  const first = await house.rig.next();
  first.call(`call-${randomUUID()}`, 'get_time').end({ inputTokens: 10, outputTokens: 2 });
  const second = await house.rig.next();
  second.text('It is ', 'late.').end({ inputTokens: 20, outputTokens: 3 });
  await asked;
}

const onCurrent = (session: string) => () =>
  house.ask('POST', '/current/api/chat?message=secret%20words', { session, headers: { Prefer: 'wait=60' } });
const onLegacy = (session: string) => () =>
  house.ask('POST', '/legacy/api/thread/chat', { session, body: { text: 'secret words' } });

describe('GET /metrics', () => {
  it('counts requests, turns, tokens, tools and the work of the store, on both surfaces', async () => {
    await open();
    const [current, legacy] = [randomUUID(), randomUUID()];
    await talk(onCurrent(current));
    await talk(onLegacy(legacy));
    const { value, samples } = await scrape();

    const request = { route: '/current/api/chat', surface: 'current', method: 'POST', status: '200' };
    expect(value('diptych_http_requests_total', request)).toBe(1);
    expect(value('diptych_http_request_duration_seconds_count', { route: request.route })).toBe(1);
    const stream = { route: '/legacy/api/thread/chat', surface: 'legacy' };
    expect(value('diptych_http_requests_total', stream)).toBe(1);
    expect(value('diptych_http_request_duration_seconds_count', stream)).toBeUndefined();
    expect(value('diptych_streams_open', stream)).toBe(0);
    // This very scrape.
    expect(value('diptych_http_requests_in_flight')).toBe(1);

    expect(value('diptych_messages_accepted_total', { app: 'default' })).toBe(2);
    const turns = { app: 'default', rig: 'scripted', outcome: 'complete' };
    expect(value('diptych_turns_total', turns)).toBe(2);
    expect(value('diptych_turn_duration_seconds_count', { rig: 'scripted' })).toBe(2);
    expect(value('diptych_turn_wait_seconds_count')).toBe(2);
    expect(value('diptych_time_to_first_token_seconds_count', { rig: 'scripted' })).toBe(2);
    expect(value('diptych_turns_running')).toBe(0);
    expect(value('diptych_store_turns', { status: 'queued' })).toBe(0);
    expect(value('diptych_store_up')).toBe(1);

    const answers = { rig: 'scripted', purpose: 'answer', outcome: 'complete' };
    expect(value('diptych_rig_requests_total', answers)).toBe(4);
    expect(value('diptych_tokens_total', { rig: 'scripted', direction: 'input' })).toBe(60);
    expect(value('diptych_tokens_total', { rig: 'scripted', direction: 'output' })).toBe(10);
    expect(value('diptych_tool_calls_total', { tool: 'get_time', outcome: 'complete' })).toBe(2);
    expect(value('diptych_store_operation_duration_seconds_count', { operation: 'end_turn' })).toBe(2);
    expect(value('process_resident_memory_bytes')).toBeGreaterThan(1e6);
    expect(value('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0);

    // Neither what was said nor what opens a session.
    const all = JSON.stringify(samples);
    for (const word of [current, legacy, current.slice(0, 8), 'secret words', 'It is '])
      expect(all).not.toContain(word);
  });

  it('has series at 0 for every route before the first request, on all surfaces', async () => {
    house = await openHouse({ surfaces: ['current', 'legacy', 'field'], metrics: { token: null } });
    const { samples, value } = await scrape();
    const counted = samples.filter(({ name }) => name === 'diptych_http_requests_total');
    expect(counted.every(({ value: count }) => count === 0)).toBe(true);
    for (const [surface, method, route] of [
      ['current', 'POST', '/api/chat'],
      ['merged', 'GET', '/api/sessions/:id'],
      ['current', 'DELETE', '/current/api/sessions/:id'],
      ['legacy', 'POST', '/legacy/api/thread/chat'],
      ['field', 'POST', '/field/api/chat'],
      ['page', 'GET', '/metrics'],
    ] as const) {
      for (const status of ['200', '500', '503'])
        expect(value('diptych_http_requests_total', { surface, method, route, status })).toBe(0);
    }
    const streams = samples.filter(({ name }) => name === 'diptych_streams_open');
    expect(streams.map(({ labels, value: open }) => [labels.surface, labels.route, open])).toEqual([
      ['current', '/api/updates', 0],
      ['legacy', '/api/thread/chat', 0],
      ['legacy', '/api/thread/updates', 0],
      ['current', '/current/api/updates', 0],
      ['legacy', '/legacy/api/thread/chat', 0],
      ['legacy', '/legacy/api/thread/updates', 0],
      ['field', '/field/api/updates', 0],
    ]);
    // More than half of the limit of series is left for the other statuses.
    expect(counted.length).toBeLessThan(500);
  });

  it('counts streams down whose client goes, also those that still waited for their turn on its connection', async () => {
    await open();
    const streams = { surface: 'current', route: '/api/updates' };
    const client = connectTo(house.url);
    const request = `GET /api/updates HTTP/1.1\r\nHost: here\r\nX-Session-Id: ${randomUUID()}\r\n\r\n`;
    client.write(request.repeat(3));
    await once(client, 'data');
    let seen = await scrape();
    while (seen.value('diptych_streams_open', streams) !== 3) seen = await scrape();
    client.destroy();
    while (seen.value('diptych_streams_open', streams) !== 0) seen = await scrape();
    expect(seen.value('diptych_http_requests_in_flight')).toBe(1);
    expect(house.log().match(/"route":"\/api\/updates".*"aborted":true/g)).toHaveLength(3);
  });

  it('says what runs, waits and streams while it does, and how turns end', async () => {
    await open();
    const session = randomUUID();
    const updates = await house.watch('/api/updates', session);
    await house.ask('POST', '/api/chat?message=one', { session });
    const first = await house.rig.next();
    first.text('I begin');
    await house.ask('POST', '/api/chat?message=two', { session });
    const during = await scrape();
    expect(during.value('diptych_turns_running')).toBe(1);
    expect(during.value('diptych_store_turns', { status: 'running' })).toBe(1);
    expect(during.value('diptych_store_turns', { status: 'queued' })).toBe(1);
    expect(during.value('diptych_streams_open', { surface: 'current', route: '/api/updates' })).toBe(1);
    await house.ask('POST', '/api/interrupt', { session });
    updates.close();

    const failing = randomUUID();
    const failed = house.ask('POST', '/api/chat?message=x', {
      session: failing,
      headers: { Prefer: 'wait=60' },
    });
    (await house.rig.next()).fail(new Error('out of order'));
    await failed;
    const after = await scrape();
    expect(after.value('diptych_turns_running')).toBe(0);
    expect(after.value('diptych_turns_total', { rig: 'scripted', outcome: 'interrupted' })).toBe(1);
    // It waited, and was never asked.
    expect(after.value('diptych_turns_total', { rig: 'none', outcome: 'interrupted' })).toBe(1);
    expect(after.value('diptych_turns_total', { outcome: 'failed' })).toBe(1);
    expect(after.value('diptych_rig_requests_total', { purpose: 'answer', outcome: 'interrupted' })).toBe(1);
  });

  it('has as many series whatever strangers ask', async () => {
    await open();
    const wander = async (): Promise<void> => {
      const noise = randomUUID();
      for (const path of [
        `/${noise}`,
        `/api/${noise}`,
        `/current/api/${noise}`,
        `/legacy/${noise}?q=${noise}`,
      ]) {
        for (const method of ['GET', 'POST', 'DELETE']) await house.ask(method, path);
      }
      await house.ask('GET', `/api/sessions/${noise}`, { session: noise });
      await house.ask('POST', `/api/control/${noise}`);
      await house.ask('POST', `/api/chat?message=x&app=${noise}`, { session: noise });
      await house.ask('POST', '/api/tools', { session: noise, body: { name: noise } });
      for (const method of ['PROPFIND', 'PURGE', 'M-SEARCH', 'PUT']) {
        await sendRaw(house.url, `${method} /${noise} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      }
    };
    const keys = ({ samples }: Scrape) =>
      samples
        .filter(({ name }) => name.startsWith('diptych_'))
        .map(({ name, labels }) => JSON.stringify([name, labels]))
        .sort();
    await wander();
    await scrape();
    const before = keys(await scrape());
    for (let round = 0; round < 3; round++) await wander();
    expect(keys(await scrape())).toEqual(before);
    const durations = before.filter((key) => key.includes('diptych_http_request_duration_seconds_count'));
    const routes = new Set(durations.flatMap((key) => /"route":"([^"]*)"/.exec(key)?.[1] ?? []));
    expect([...routes].sort()).toEqual([
      ...['/api/chat', '/api/control/:action', '/api/sessions/:id', '/api/tools', '/metrics', 'unknown'],
    ]);
    expect(before.some((key) => key.includes('"method":"other"'))).toBe(true);
  });

  it('answers HEAD, and other methods with 405 in JSON; no page of another origin may read it', async () => {
    await open();
    const head = await house.ask('HEAD', '/metrics');
    expect([head.status, head.text, head.headers.get('content-type')]).toEqual([
      ...[200, '', 'text/plain; version=0.0.4; charset=utf-8'],
    ]);
    const posted = await house.ask('POST', '/metrics');
    expect(posted.status).toBe(405);
    expect(posted.json).toMatchObject({ code: 'method_not_allowed' });
    expect(posted.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
    const answer = await house.ask('GET', '/metrics', { headers: { Origin: 'https://elsewhere.example' } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    for (const base of ['/current', '/legacy', '/api', '/current/api'])
      expect((await house.ask('GET', `${base}/metrics`)).status).toBe(404);
  });

  it('is nothing when metrics are off', async () => {
    house = await openHouse();
    expect((await house.ask('GET', '/metrics')).status).toBe(404);
  });
});

describe('who may read the metrics', () => {
  it('is a request with the token, when there is one', async () => {
    await open('a-token-of-the-operator');
    const ask = (authorization?: string) =>
      house.ask('GET', '/metrics', authorization === undefined ? {} : { headers: { authorization } });
    for (const wrong of [undefined, 'Bearer', 'Bearer ', 'Bearer a-token', 'Basic a-token-of-the-operator']) {
      const answer = await ask(wrong);
      expect([wrong, answer.status]).toEqual([wrong, 401]);
      expect(answer.json).toMatchObject({ code: 'unauthenticated' });
      expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="metrics"');
    }
    for (const right of ['Bearer a-token-of-the-operator', 'bearer  a-token-of-the-operator '])
      expect((await ask(right)).status).toBe(200);
    const proxied = { authorization: 'Bearer a-token-of-the-operator', 'X-Forwarded-For': '203.0.113.9' };
    expect((await house.ask('GET', '/metrics', { headers: proxied })).status).toBe(200);
  });

  it('is this machine alone, when there is none', async () => {
    await open();
    const answer = await house.ask('GET', '/metrics', { headers: { 'X-Forwarded-For': '203.0.113.9' } });
    expect(answer.status).toBe(403);
    expect(answer.json).toMatchObject({ code: 'forbidden', error: expect.stringContaining('METRICS_TOKEN') });
  });

  it('is nobody without a token when a proxy is configured, whose requests look like those of this machine', async () => {
    house = await openHouse({ metrics: { token: null, trustProxy: true } });
    const answer = await house.ask('GET', '/metrics');
    expect(answer.status).toBe(403);
    expect(answer.json).toMatchObject({ code: 'forbidden', error: expect.stringContaining('TRUST_PROXY') });
    await house.close();
    house = await openHouse({ metrics: { token: 'a-token-of-the-operator', trustProxy: true } });
    const headers = { authorization: 'Bearer a-token-of-the-operator' };
    expect((await house.ask('GET', '/metrics', { headers })).status).toBe(200);
  });
});
