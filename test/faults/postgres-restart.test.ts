import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { MAIN, Place } from '../cli/running.js';
import { noPostgres, ownPostgres, type OwnPostgres } from '../support/own-postgres.js';
import { openStream } from '../support/sse.js';

// Servers start and stop: on a busy machine that takes its time.
jest.setTimeout(240_000);

const CLIENT = 'client-0123456789abcdef';
const OTHER = randomUUID();

/** Everything that needs the store; `ID` is a session that there is. */
const NEEDING: readonly (readonly [method: string, path: string, body?: object])[] = [
  ['POST', '/api/sessions'],
  ['GET', '/api/sessions/ID'],
  ['GET', '/api/sessions?public_key=w'],
  ['PATCH', '/api/sessions/ID', { title: 't' }],
  ['DELETE', '/api/sessions/ID'],
  ['GET', '/api/sessions/ID/messages'],
  ['POST', '/api/chat?message=Hi'],
  ['GET', '/api/state'],
  ['GET', '/api/state?user_state=%7B%22n%22%3A2%7D'],
  ['POST', '/api/interrupt'],
  ['GET', '/api/updates'],
  ['GET', '/api/events'],
  ['POST', '/api/control/model?rig=demo'],
  ['GET', '/api/control/models'],
  ['GET', '/api/control/apps'],
  ['POST', '/api/tools', { name: 'get_time' }],
  ['POST', '/api/secrets', { client_id: CLIENT, secrets: { A: 'v' } }],
  ['GET', `/api/secrets?client_id=${CLIENT}`],
  ['DELETE', `/api/secrets?client_id=${CLIENT}`],
  ['DELETE', `/api/secrets/A?client_id=${CLIENT}`],
  ['POST', '/api/thread/chat', { text: 'Hi' }],
  ['GET', '/api/thread/state?session_id=ID'],
  ['POST', '/api/thread/interrupt?session_id=ID'],
  ['GET', '/api/thread/updates'],
  ['POST', '/legacy/api/control/model?session_id=ID', { model: 'demo' }],
  ['GET', '/api/health'],
];

/** What a balancer, a page and a person see even then. */
const NOT_NEEDING = ['/health', '/api/session/models'];

if (noPostgres !== null && process.env.CI === 'true') throw new Error(noPostgres);
const describeWithCluster = noPostgres === null ? describe : describe.skip;
if (noPostgres !== null) process.stderr.write(`skipped: ${noPostgres}\n`);

describeWithCluster('a service whose PostgreSQL is stopped and started', () => {
  let postgres: OwnPostgres;
  let place: Place;

  beforeAll(async () => {
    postgres = await ownPostgres();
  });
  afterAll(() => postgres.remove());
  beforeEach(() => {
    place = new Place();
  });
  afterEach(() => place.clear());

  const env = () => ({ DATABASE_URL: postgres.url, SECRETS_KEY: randomBytes(32).toString('base64') });

  async function healthy(url: string): Promise<void> {
    while ((await fetch(`${url}/api/health`)).status !== 200) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  it('responds with 503 while PostgreSQL is away, and recovers without a restart of its own', async () => {
    await postgres.start();
    const { running, url } = await place.serve({ ...env(), DEMO_TOKEN_MS: '20' });
    const ask = (method: string, path: string, session: string, body?: object) =>
      fetch(url + path.replace('ID', session), {
        method,
        headers: { 'X-Session-Id': session, ...(body && { 'Content-Type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      });
    const id = randomUUID();
    const count = 'count from 1 to 100';
    expect((await ask('POST', `/api/chat?message=${encodeURIComponent(count)}`, id)).status).toBe(200);
    await ask('POST', '/api/sessions', OTHER);
    const stream = await openStream(`${url}/api/updates`, { headers: { 'X-Session-Id': OTHER } });

    await postgres.stop();
    const answers = await Promise.all(
      NEEDING.map(async ([method, path, body]) => {
        const answer = await ask(method, path, OTHER, body);
        const json: unknown = await answer.json();
        return { method, path, status: answer.status, retryAfter: answer.headers.get('retry-after'), json };
      }),
    );
    for (const { method, path, status, retryAfter, json } of answers) {
      expect([method, path, status]).toEqual([method, path, 503]);
      if (path === '/api/health') expect(json).toMatchObject({ status: 'store_unavailable' });
      else expect([path, json]).toEqual([path, expect.objectContaining({ error: expect.any(String) })]);
      expect([path, retryAfter]).toEqual([path, expect.stringMatching(/^\d+$/)]);
    }
    for (const path of NOT_NEEDING) expect([path, (await fetch(url + path)).status]).toEqual([path, 200]);

    await postgres.start();
    await healthy(url);
    expect((await ask('PATCH', '/api/sessions/ID', OTHER, { title: 'After' })).status).toBe(200);
    await stream.until(({ events }) => events.some(({ data }) => data.includes('"new_title":"After"')));
    // The turn that ran goes on, here, and ends.
    for (;;) {
      const state: unknown = await (await ask('GET', '/api/state', id)).json();
      if (typeof state === 'object' && state !== null && 'is_processing' in state && !state.is_processing) {
        const numbers = Array.from({ length: 100 }, (_, n) => n + 1);
        expect(state).toMatchObject({
          messages: [{ sender: 'user' }, { sender: 'agent', content: expect.stringContaining('100') }],
        });
        for (const n of numbers) expect(JSON.stringify(state)).toMatch(new RegExp(`\\b${String(n)}\\b`));
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    stream.close();
    expect(running.err()).not.toContain('crashed');
    running.child.kill('SIGTERM');
    expect(await running.ended).toBe(0);
    await postgres.stop();
  });

  it('does not start without it: one line of stderr and one of the log say why, and the exit code is 1', async () => {
    const running = place.start(MAIN, [], env());
    expect(await running.ended).toBe(1);
    const reason = `Diptych cannot start: PostgreSQL cannot be used now: connect ECONNREFUSED 127.0.0.1:${String(postgres.port)}`;
    expect(running.err()).toBe(`${reason}\n`);
    expect(JSON.parse(running.out())).toMatchObject({ level: 'error', reason, msg: 'failed to start' });
  });
});
