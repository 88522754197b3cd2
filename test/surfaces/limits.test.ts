import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { NO_LIMITS, type Limits } from '../../src/core/model/quota.js';
import { Place } from '../cli/running.js';
import { testApp } from '../support/core.js';
import { objectOf, openHouse, type House } from '../support/house.js';
import { grantKey } from '../support/keys.js';
import { sayScript, startUpstream } from '../support/upstream.js';

// A test that would see midnight waits for it first.
jest.setTimeout(300_000);

const house: { now: House | null } = { now: null };
let place: Place;
beforeEach(async () => {
  place = new Place();
  await awayFromMidnight();
});
afterEach(async () => {
  await house.now?.close();
  house.now = null;
  await place.clear();
});

/** Days are counted from midnight UTC: no test may see two of them. */
async function awayFromMidnight(): Promise<void> {
  const left = 86_400_000 - (Date.now() % 86_400_000);
  if (left < 120_000) await new Promise((resolve) => setTimeout(resolve, left + 1_000));
}

async function limited(session: Partial<Limits>, key: Partial<Limits> = {}): Promise<House> {
  const limits = { session: { ...NO_LIMITS, ...session }, key: { ...NO_LIMITS, ...key } };
  const apps = [testApp(), testApp({ name: 'a' }), testApp({ name: 'b' })];
  return (house.now = await openHouse({ apps, settings: { limits } }));
}

/** Asks so often that one must be refused, even if the minute turns once: after twice the limit, and one. */
async function refusals(limit: number, ask: () => Promise<{ status: number }>): Promise<number> {
  let refused = 0;
  for (let n = 0; n < 2 * limit + 1; n++) if ((await ask()).status === 429) refused++;
  return refused;
}

function seconds(headers: Headers): number {
  return Number(headers.get('retry-after') ?? NaN);
}

describe('from a file, in the real service', () => {
  async function ask(url: string, path: string, headers: Record<string, string>, body?: object) {
    const response = await fetch(url + path, {
      method: 'POST',
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text };
  }

  it('turns a day, per session and per key, outlive a restart, in the shape of each surface', async () => {
    writeFileSync(
      join(place.directory, 'diptych.yaml'),
      'apps: [{ name: a }]\nlimits:\n  session: { turnsPerDay: 2 }\n  key: { turnsPerDay: 3 }\n',
    );
    const made = await place.run(['keys', 'create', '--app', 'a', '--json']);
    const key = /sk-app-[\w-]{43}/.exec(made.out)?.[0] ?? '';
    const [one, two] = [randomUUID(), randomUUID()];
    const first = await place.serve();
    const wait = { Prefer: 'wait=60' };
    const chat = (url: string, session: string, more: Record<string, string> = {}, query = '') =>
      ask(url, `/api/chat?message=hi${query}`, { 'X-Session-Id': session, ...wait, ...more });
    const repeatable = { 'Idempotency-Key': 'k' };
    expect((await chat(first.url, one)).status).toBe(200);
    expect((await chat(first.url, one, repeatable)).status).toBe(200);
    first.running.child.kill('SIGTERM');
    await first.running.ended;

    const { url } = await place.serve();
    const untilMidnight = (): number => 86_400 - (Date.now() % 86_400_000) / 1000;
    const before = untilMidnight();
    const refused = await chat(url, one);
    expect([refused.status, JSON.parse(refused.text)]).toEqual([
      429,
      {
        error: 'This session has used up its 2 turns a day (UTC)',
        code: 'too_many',
        request_id: expect.any(String),
      },
    ]);
    expect(seconds(refused.headers)).toBeLessThanOrEqual(Math.ceil(before));
    expect(seconds(refused.headers)).toBeGreaterThanOrEqual(Math.floor(untilMidnight()));
    const headers = { 'X-Session-Id': one, 'Content-Type': 'application/json' };
    for (const base of ['', '/legacy']) {
      const legacy = await ask(url, `${base}/api/thread/chat`, headers, { text: 'hi' });
      expect([legacy.status, JSON.parse(legacy.text)]).toEqual([
        429,
        { error: 'This session has used up its 2 turns a day (UTC)' },
      ]);
      expect(seconds(legacy.headers)).toBeGreaterThan(0);
    }
    // A repeat starts no turn; other paths and sessions are open.
    expect((await chat(url, one, repeatable)).status).toBe(200);
    const state = await fetch(`${url}/api/state`, { headers });
    expect(objectOf(await state.json()).messages).toHaveLength(4);
    // The key has its own account, over sessions and surfaces; default is not on it.
    const keyed = { 'SERVICE-APP-KEY': key, 'X-API-Key': key };
    expect((await chat(url, two, keyed, '&app=a')).status).toBe(200);
    expect((await chat(url, two, keyed, '&app=a')).status).toBe(200);
    const stream = await ask(
      url,
      '/api/thread/chat?app=a',
      { ...keyed, 'X-Session-Id': randomUUID() },
      { text: 'hi' },
    );
    expect([stream.status, stream.text]).toEqual([200, expect.stringContaining('"complete"')]);
    const spent = await chat(url, randomUUID(), keyed, '&app=a');
    expect([spent.status, spent.text]).toEqual([
      429,
      expect.stringContaining('This App key has used up its 3 turns a day'),
    ]);
    expect((await chat(url, randomUUID(), keyed)).status).toBe(200);
  });

  it('tokens a day, as the provider bills them', async () => {
    const upstream = await startUpstream();
    // Ten tokens each.
    upstream.always(sayScript('hello'));
    try {
      writeFileSync(
        join(place.directory, 'diptych.yaml'),
        `rigs: [{ id: m, provider: openai-compatible, baseUrl: '${upstream.url}/v1' }]\n` +
          'limits: { session: { tokensPerDay: 20 } }\n',
      );
      const { url } = await place.serve();
      const headers = { 'X-Session-Id': randomUUID(), Prefer: 'wait=60' };
      const statuses: number[] = [];
      for (let n = 0; n < 3; n++) statuses.push((await ask(url, '/api/chat?message=hi', headers)).status);
      expect(statuses).toEqual([200, 200, 429]);
      const legacy = await ask(url, '/api/thread/chat', headers, { text: 'hi' });
      expect(JSON.parse(legacy.text)).toEqual({
        error: 'This session has used up its 20 tokens a day (UTC)',
      });
      expect(
        (await ask(url, '/api/chat?message=hi', { ...headers, 'X-Session-Id': randomUUID() })).status,
      ).toBe(200);
    } finally {
      await upstream.close();
    }
  });

  it('requests a minute', async () => {
    writeFileSync(join(place.directory, 'diptych.yaml'), 'limits: { session: { requestsPerMinute: 3 } }\n');
    const { url } = await place.serve();
    const headers = { 'X-Session-Id': randomUUID() };
    const asked = () => fetch(`${url}/api/state`, { headers });
    expect(await refusals(3, asked)).toBeGreaterThan(0);
    expect((await fetch(`${url}/api/health`)).status).toBe(200);
  });

  it('that are wrong stop the start', async () => {
    writeFileSync(
      join(place.directory, 'diptych.yaml'),
      'limits: { session: { turnsPerDay: 0 }, user: {} }\n',
    );
    const { code, err } = await place.run(['apps', 'list']);
    expect([code, err]).toEqual([2, expect.stringMatching(/limits\.session\.turnsPerDay.*1 or more/s)]);
  });
});

describe('requests a minute', () => {
  const LIMIT = 5;

  it('are refused in the shape of each surface, also where nothing is found, and before anything is done', async () => {
    const served = await limited({ requestsPerMinute: LIMIT });
    const shapes: readonly (readonly [string, string, unknown])[] = [
      ['GET', '/api/state', { error: expect.any(String), code: 'too_many', request_id: expect.any(String) }],
      [
        'GET',
        '/current/api/state',
        { error: expect.any(String), code: 'too_many', request_id: expect.any(String) },
      ],
      ['GET', '/legacy/api/thread/updates', { error: expect.any(String) }],
      ['GET', '/legacy/api/none', { error: expect.any(String) }],
      ['GET', '/api/none', { error: expect.any(String), code: 'too_many', request_id: expect.any(String) }],
      [
        'PATCH',
        '/api/state',
        { error: expect.any(String), code: 'too_many', request_id: expect.any(String) },
      ],
      [
        'POST',
        '/api/sessions',
        { error: expect.any(String), code: 'too_many', request_id: expect.any(String) },
      ],
    ];
    const session = randomUUID();
    const exhaust = () => refusals(LIMIT, () => served.ask('GET', '/api/state', { session }));
    for (const [method, path, shape] of shapes) {
      // A new minute may have begun: once it is used up too, the next request is refused.
      let answer = await served.ask(method, path, { session });
      while (answer.status !== 429) {
        await exhaust();
        answer = await served.ask(method, path, { session });
      }
      expect([path, answer.json]).toEqual([path, shape]);
      expect(seconds(answer.headers)).toBeGreaterThanOrEqual(1);
      expect(seconds(answer.headers)).toBeLessThanOrEqual(60);
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    }
    expect(await served.store.loadThread(session)).toBe('unknown');
  });

  const S = randomUUID();
  const upper = S.toUpperCase();
  const encoded = `%${S.charCodeAt(0).toString(16)}${S.slice(1)}`;
  const fresh = () => ({ 'X-Session-Id': randomUUID() });
  it.each<readonly [string, string, () => Record<string, string>]>([
    ['the header', '/api/state', () => ({ 'X-Session-Id': S })],
    ['the header in another case', '/api/state', () => ({ 'X-Session-Id': upper })],
    ['the path', `/api/sessions/${S}`, () => ({})],
    ['the path, beside a header that is ignored there', `/api/sessions/${S}`, fresh],
    ['the path, beside a malformed header', `/api/sessions/${S}`, () => ({ 'X-Session-Id': 'x' })],
    ['the path with an escape', `/api/sessions/${encoded}`, fresh],
    ['the path in other letters', `/API/Sessions/${upper}`, fresh],
    ['the path of a base', `/legacy/api/sessions/${S}/`, fresh],
    ['the path of the records', `/api/sessions/${S}/messages`, fresh],
    ['the query', `/api/thread/state?session_id=${S}`, () => ({})],
    ['the query, beside the header of another', `/api/thread/state?session_id=${upper}`, fresh],
  ])('are counted for the session in %s', async (_name, path, headers) => {
    const served = await limited({ requestsPerMinute: LIMIT });
    expect(await refusals(LIMIT, () => served.ask('GET', path, { headers: headers() }))).toBeGreaterThan(0);
    // Another one is not touched.
    expect((await served.ask('GET', '/api/state', { session: randomUUID() })).status).toBe(200);
  });

  it.each<readonly [string, (key: string) => Record<string, string>]>([
    ['its header', (key) => ({ 'SERVICE-APP-KEY': key })],
    ['the header of the other surface', (key) => ({ 'X-API-Key': key })],
    ['one beside a bad one', (key) => ({ 'SERVICE-APP-KEY': 'bad', 'X-API-Key': key })],
    ['one beside an empty one', (key) => ({ 'SERVICE-APP-KEY': '', 'X-API-Key': key })],
  ])('are counted for the key in %s, whatever the session', async (_name, headers) => {
    const served = await limited({}, { requestsPerMinute: LIMIT });
    const [key, other] = [await grantKey(served.store, ['a']), await grantKey(served.store, ['b'])];
    const path = '/legacy/api/session/apps';
    const asked = () => served.ask('GET', path, { headers: { ...headers(key), ...fresh() } });
    expect(await refusals(LIMIT, asked)).toBeGreaterThan(0);
    expect((await served.ask('GET', path, { headers: { 'X-API-Key': other } })).status).toBe(200);
    expect((await served.ask('GET', '/api/state', { session: randomUUID() })).status).toBe(200);
  });

  it('are not refused for a parameter that their route ignores', async () => {
    const served = await limited({ requestsPerMinute: LIMIT });
    const { status } = await served.ask('GET', '/current/api/state?session_id=%ff', {
      session: randomUUID(),
    });
    expect(status).toBe(200);
  });

  it('are not counted twice where a session or key is named twice', async () => {
    const served = await limited({ requestsPerMinute: LIMIT }, { requestsPerMinute: LIMIT });
    const key = await grantKey(served.store, ['a']);
    const headers = { 'SERVICE-APP-KEY': key, 'X-API-Key': key };
    const session = randomUUID();
    const statuses: number[] = [];
    for (let n = 0; n < LIMIT; n++) {
      statuses.push(
        (await served.ask('GET', `/api/state?session_id=${session}`, { session, headers })).status,
      );
    }
    expect(statuses).toEqual(Array(LIMIT).fill(200));
  });

  it('write nothing, whether their session exists or not', async () => {
    const served = await limited({ requestsPerMinute: 1000 });
    const written = jest.spyOn(served.store, 'countRequest');
    for (const path of ['/api/state', '/api/none', '/api/sessions/x']) {
      await served.ask('GET', path, { session: randomUUID() });
    }
    expect(written).not.toHaveBeenCalled();
  });

  it('of nobody in particular are not limited', async () => {
    const served = await limited({ requestsPerMinute: 1 }, { requestsPerMinute: 1 });
    for (let n = 0; n < 5; n++) expect((await served.ask('GET', '/api/session/models')).status).toBe(200);
    for (let n = 0; n < 5; n++)
      expect((await served.ask('GET', '/api/state', { session: 'x' })).status).toBe(400);
  });

  it('do not count preflights and probes, and never refuse them', async () => {
    const served = await limited({ requestsPerMinute: LIMIT });
    const session = randomUUID();
    const preflight = { 'Access-Control-Request-Method': 'GET', Origin: 'http://page' };
    const free = async (): Promise<readonly number[]> => [
      (await served.ask('GET', '/health', { session })).status,
      (await served.ask('GET', '/api/health', { session })).status,
      (await served.ask('OPTIONS', `/api/thread/state?session_id=${session}`, { headers: preflight })).status,
    ];
    for (let n = 0; n < LIMIT; n++) expect(await free()).toEqual([200, 200, 204]);
    expect((await served.ask('GET', '/api/state', { session })).status).toBe(200);
    await refusals(LIMIT, () => served.ask('GET', '/api/state', { session }));
    expect(await free()).toEqual([200, 200, 204]);
  });

  it('hold under a burst', async () => {
    const served = await limited({ requestsPerMinute: LIMIT });
    const session = randomUUID();
    const all = await Promise.all(
      Array.from({ length: 40 }, () => served.ask('GET', '/api/state', { session })),
    );
    const taken = all.filter(({ status }) => status === 200).length;
    expect([LIMIT, 2 * LIMIT]).toContain(Math.max(taken, LIMIT));
    expect(taken).toBeLessThanOrEqual(2 * LIMIT);
  });
});
