import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { objectOf } from '../support/house.js';
import { serveScripted } from '../support/http.js';
import { openStream, type OpenStream } from '../support/sse.js';
import { climb, getTime } from '../support/tools.js';

/** Short enough for a test, which waits for the end of streams alone. */
const IDLE_MS = 40;

let server: Awaited<ReturnType<typeof serveScripted>>;
const opened: OpenStream[] = [];

afterEach(async () => {
  for (const stream of opened.splice(0)) stream.close();
  await server.close();
});

const serve = (idleStreamMs: number) =>
  serveScripted({
    surfaces: ['current', 'legacy', 'field'],
    tools: [getTime, climb],
    field: { idleStreamMs },
  });

async function updates(session: string, path = '/field/api/updates', headers: Record<string, string> = {}) {
  const stream = await openStream(server.url + path, { headers: { 'X-Session-Id': session, ...headers } });
  opened.push(stream);
  return stream;
}

const create = (session: string) => server.ask('POST', '/current/api/sessions', { session });
const rename = (session: string, title: string) =>
  server.ask('PATCH', `/current/api/sessions/${session}`, { body: { title } });

const titled = (id: number, session: string, title: string) =>
  `id: ${String(id)}\ndata: {"type":"title_changed","session_id":"${session}","new_title":"${title}"}\n\n`;

describe('GET /api/updates of the field surface', () => {
  beforeEach(async () => (server = await serve(60_000)));

  it('shows the events of a UUID with the bytes of the current surface', async () => {
    const session = randomUUID();
    await create(session);
    const [field, current] = [await updates(session), await updates(session, '/current/api/updates')];
    await rename(session, 'One ✓');
    for (const stream of [field, current]) await stream.until(({ events }) => events.length === 1);
    expect(field.bytes).toBe(titled(1, session, 'One ✓'));
    expect(current.bytes).toBe(field.bytes);
  });

  it('shows the id that was sent, also in replays, gaps and turns', async () => {
    const [id, by] = ['my "bot"', '?client_id=client-a'];
    await server.ask('POST', `/field/api/sessions${by}`, { session: id });
    const path = `/field/api/sessions/${encodeURIComponent(id)}${by}`;
    await server.ask('PATCH', path, { body: { title: 'One' } });
    const replayed = await updates(id, `/field/api/updates${by}&since=0`);
    await replayed.until(({ events }) => events.length === 1);
    expect(replayed.bytes).toBe(titled(1, 'my \\"bot\\"', 'One'));
    const gap = await updates(id, `/field/api/updates${by}&since=7&include=turns`);
    const chat = server.ask('POST', `/field/api/chat${by}`, { session: id, body: { message: 'hi' } });
    (await server.rig.next()).text('hello').end();
    await chat;
    await gap.until(({ bytes }) => bytes.includes('turn_ended'));
    const events = gap.events.map(({ data }): unknown => JSON.parse(data));
    expect(events[0]).toEqual({ type: 'gap', session_id: id, from: 2, to: 7 });
    for (const event of events) expect(event).toMatchObject({ session_id: id });
  });

  it('shows tools that report progress, and no others', async () => {
    const session = randomUUID();
    await create(session);
    const [field, current] = [await updates(session), await updates(session, '/current/api/updates')];
    const chat = server.ask('POST', '/field/api/chat', { session, body: { message: 'climb' } });
    (await server.rig.next()).call('t1', 'get_time').call('c1', 'climb').end();
    (await server.rig.next()).text('done').end();
    await chat;
    for (const name of ['get_time', 'climb'])
      await server.ask('POST', '/field/api/tools', { session, body: { name } });
    await rename(session, 'Last');
    for (const stream of [field, current]) await stream.until(({ bytes }) => bytes.includes('Last'));
    const shown = (stream: OpenStream) =>
      stream.events.map(({ data }) => {
        const { type, name, status, message } = objectOf(JSON.parse(data));
        return [type, name, status, message];
      });
    // The title that the service makes comes at its own time.
    const calls = (stream: OpenStream) => shown(stream).filter(([type]) => type !== 'title_changed');
    const call = [
      ['tool_update', 'climb', 'running', 'half way'],
      ['tool_complete', 'climb', 'complete', undefined],
    ];
    expect(calls(field)).toEqual([...call, ...call]);
    expect(calls(current).filter(([, name]) => name === 'get_time')).toHaveLength(4);
    // The same, replayed from the store.
    const replayed = await updates(session, '/field/api/updates?since=0');
    await replayed.until(({ bytes }) => bytes.includes('Last'));
    expect(replayed.bytes).toBe(field.bytes);
    // The mark of such tools is not shown.
    expect(current.bytes + field.bytes).not.toContain('multiStep');
  });

  it('is silent for a deleted session, and does not bring it back', async () => {
    const session = randomUUID();
    await create(session);
    const live = await updates(session);
    await server.ask('DELETE', `/field/api/sessions/${session}`);
    await live.end();
    const silent = await updates(session);
    expect(silent.response.status).toBe(200);
    const head = await server.ask('HEAD', '/field/api/updates', { session });
    expect([head.status, head.text]).toEqual([200, '']);
    expect((await server.ask('GET', `/field/api/sessions/${session}`)).status).toBe(404);
    expect((await server.ask('GET', '/current/api/updates', { session })).status).toBe(404);
  });

  it('lets any number of browsers share the id that all of them send', async () => {
    const streams = await Promise.all(Array.from({ length: 101 }, () => updates('default-session')));
    expect(streams.map(({ response }) => response.status)).toEqual(streams.map(() => 200));
  });

  it('refuses an Accept that rules it out, and a malformed cursor', async () => {
    const session = randomUUID();
    const refused = await server.ask('GET', '/field/api/updates', {
      session,
      headers: { Accept: 'text/html' },
    });
    expect(refused.status).toBe(400);
    expect((await server.ask('GET', '/field/api/updates?since=x', { session })).status).toBe(400);
  });
});

describe('an idle stream', () => {
  beforeEach(async () => (server = await serve(IDLE_MS)));

  it('is closed when its address has opened another, which stays', async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    await create(second);
    const [old, young] = [await updates(first), await updates(second)];
    expect(await old.end()).toBe('');
    await rename(second, 'Still here');
    await young.until(({ events }) => events.length === 1);
    expect(young.bytes).toBe(titled(1, second, 'Still here'));
  });

  it('is also closed when it is silent', async () => {
    const silent = await updates('default-session');
    await updates(randomUUID());
    expect(await silent.end()).toBe('');
  });

  it('stays while a turn runs in its session', async () => {
    const [busy, idle] = [randomUUID(), randomUUID()];
    const sent = server.ask('POST', '/field/api/chat', { session: busy, body: { message: 'hi' } });
    const asked = await server.rig.next();
    await sent;
    const [working, waiting] = [await updates(busy), await updates(idle)];
    await updates(randomUUID());
    await waiting.end();
    await rename(busy, 'Working');
    await working.until(({ events }) => events.length === 1);
    asked.text('done').end();
    await working.end();
  });

  it('of the strict surfaces stays, and does not make another one the last', async () => {
    const session = randomUUID();
    await create(session);
    const current = await updates(session, '/current/api/updates');
    const [old, only] = [await updates(randomUUID()), await updates(session)];
    await updates(session, '/current/api/updates');
    await old.end();
    await rename(session, 'Both');
    for (const stream of [current, only]) await stream.until(({ events }) => events.length === 1);
  });

  it('of a deleted session ends when the session comes back, so that the client reconnects', async () => {
    const session = randomUUID();
    await create(session);
    await server.ask('DELETE', `/field/api/sessions/${session}`);
    const silent = await updates(session);
    await create(session);
    await silent.end();
    const live = await updates(session);
    await rename(session, 'Again');
    await live.until(({ events }) => events.length === 1);
  });

  it('ends with the service', async () => {
    const silent = await updates('default-session');
    await server.http.close(0);
    expect(await silent.end()).toBe('');
    server = await serve(IDLE_MS);
  });
});
