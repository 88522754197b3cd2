import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { serveScripted } from '../support/http.js';
import { openStream, type OpenStream } from '../support/sse.js';
import { climb, getTime, stumble } from '../support/tools.js';

let server: Awaited<ReturnType<typeof serveScripted>>;
let session: string;

beforeEach(async () => {
  server = await serveScripted({ tools: [getTime, climb, stumble] });
  session = randomUUID();
});
afterEach(() => server.close());

function updates(query = '', headers: Record<string, string> = {}): Promise<OpenStream> {
  return openStream(`${server.url}/api/updates${query}`, {
    headers: { 'X-Session-Id': session, Accept: 'text/event-stream', ...headers },
  });
}

function legacyUpdates(query = '', headers: Record<string, string> = {}): Promise<OpenStream> {
  return openStream(`${server.url}/api/thread/updates${query}`, { headers });
}

function rename(title: string): Promise<unknown> {
  return server.ask('PATCH', `/api/sessions/${session}`, { body: { title } });
}

const titled = (id: number, title: string) =>
  `id: ${String(id)}\ndata: {"type":"title_changed","session_id":"${session}","new_title":"${title}"}\n\n`;

describe('GET /api/updates', () => {
  it('has its headers at once', async () => {
    const { response } = await updates();
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'access-control-allow-origin': '*',
    });
  });

  it('shows what happens from now on, each with its id', async () => {
    await server.ask('POST', '/api/sessions', { session });
    await rename('Before');
    const stream = await updates();
    await rename('One');
    await rename('Two ✓');
    await stream.until(({ events }) => events.length === 2);
    expect(stream.bytes).toBe(titled(2, 'One') + titled(3, 'Two ✓'));
    stream.close();
  });

  it('replays after a cursor, then goes on live', async () => {
    await server.ask('POST', '/api/sessions', { session });
    for (const title of ['1', '2', '3']) await rename(title);
    const streams = [
      await updates('', { 'Last-Event-ID': '1' }),
      await updates('?since=1'),
      await updates('?since=3', { 'Last-Event-ID': '1' }),
      await updates('?since=1', { 'Last-Event-ID': '' }),
    ];
    await rename('4');
    for (const stream of streams) {
      await stream.until(({ events }) => events.length === 3);
      expect(stream.bytes).toBe(titled(2, '2') + titled(3, '3') + titled(4, '4'));
    }
  });

  it('misses nothing when opened with the cursor of a snapshot', async () => {
    await server.ask('POST', '/api/sessions', { session });
    await rename('1');
    const { headers } = await server.ask('GET', '/api/state', { session });
    await rename('2');
    const stream = await updates(`?since=${headers.get('x-event-cursor') ?? ''}`);
    await stream.until(({ events }) => events.length === 1);
    expect(stream.bytes).toBe(titled(2, '2'));
  });

  it('reports a gap without an id', async () => {
    await server.ask('POST', '/api/sessions', { session });
    await rename('1');
    const stream = await updates('?since=7');
    await rename('2');
    await stream.until(({ events }) => events.length === 2);
    expect(stream.bytes).toBe(
      `data: {"type":"gap","session_id":"${session}","from":2,"to":7}\n\n${titled(2, '2')}`,
    );
  });

  it.each(['-1', 'x', '1.5', '99999999999999999999'])('refuses the cursor %j', async (cursor) => {
    for (const [query, headers] of [
      [`?since=${cursor}`, {}],
      ['', { 'Last-Event-ID': cursor }],
    ] as const) {
      const { status, json } = await server.ask('GET', `/api/updates${query}`, { session, headers });
      expect([status, json]).toEqual([400, expect.objectContaining({ code: 'invalid' })]);
    }
  });

  it('refuses an Accept that rules it out, and takes the others', async () => {
    for (const accept of ['application/json', 'text/html, application/json', 'text/event-stream;q=0']) {
      const { status, json } = await server.ask('GET', '/api/updates', {
        session,
        headers: { Accept: accept },
      });
      expect([accept, status, json]).toEqual([accept, 400, expect.objectContaining({ code: 'invalid' })]);
    }
    for (const accept of ['*/*', 'text/*', 'text/event-stream', 'application/json, text/event-stream', '']) {
      const stream = await updates('', { Accept: accept });
      expect([accept, stream.response.status]).toEqual([accept, 200]);
      stream.close();
    }
  });

  it('refuses an include that it does not know', async () => {
    expect((await server.ask('GET', '/api/updates?include=all', { session })).status).toBe(400);
  });

  it('announces tools with both names of their fields, the result as the text of the snapshot', async () => {
    const stream = await updates();
    const whole = server.ask('POST', '/api/chat?message=Work', { session, headers: { Prefer: 'wait=60' } });
    (await server.rig.next()).call('c1', 'get_time').end();
    (await server.rig.next()).call('c2', 'climb').end();
    (await server.rig.next()).call('c3', 'stumble').end();
    (await server.rig.next()).text('Done.').end();
    const { text } = await whole;
    await stream.until(({ events }) =>
      events.some(({ data }) => data.includes('"c3"') && data.includes('failed')),
    );
    const tools = stream.events.map(({ data }) => data).filter((data) => data.includes('"type":"tool_'));
    const head = (type: string, id: string, name: string) =>
      `{"type":"${type}","session_id":"${session}","id":"${id}","call_id":"${id}","tool_name":"${name}","name":"${name}"`;
    expect(tools.slice(0, 5)).toEqual([
      `${head('tool_update', 'c1', 'get_time')},"status":"running"}`,
      `${head('tool_complete', 'c1', 'get_time')},"status":"complete","result":"{\\"time\\":\\"12:00\\",\\"zone\\":null}"}`,
      `${head('tool_update', 'c2', 'climb')},"status":"running"}`,
      `${head('tool_update', 'c2', 'climb')},"status":"running","message":"half way"}`,
      `${head('tool_complete', 'c2', 'climb')},"status":"complete","result":"on top"}`,
    ]);
    expect(tools[5]).toBe(`${head('tool_update', 'c3', 'stumble')},"status":"running"}`);
    expect(tools[6]).toMatch(/,"status":"failed","result":".*the ground was uneven.*"\}$/);
    expect(text).toContain('"tool_result":["get_time","{\\"time\\":\\"12:00\\",\\"zone\\":null}"]');
  });

  it('shows turns only when asked to, without ids', async () => {
    const plain = await updates();
    const full = await updates('?include=turns');
    await server.ask('POST', '/api/chat?message=Hi', { session });
    const asked = await server.rig.next();
    asked.text('Hel');
    await full.until(({ events }) => events.length === 2);
    const late = await updates('?include=turns');
    await late.until(({ events }) => events.length === 2);
    asked.text('lo').end();
    await full.until(({ bytes }) => bytes.includes('turn_ended') && bytes.includes('title_changed'));
    const turn = /"turn_id":"([^"]+)"/.exec(full.bytes)?.[1] ?? '';
    const head = (type: string) => `data: {"type":"${type}","session_id":"${session}","turn_id":"${turn}"`;
    const end = `${head('turn_ended')},"status":"complete"}\n\n`;
    const untitled = (bytes: string) => bytes.replace(/id: \d+\ndata: \{"type":"title_changed".*\n\n/, '');
    expect(untitled(full.bytes)).toBe(
      `: keep-alive\n\n${head('turn_started')}}\n\n${head('text_delta')},"content":"Hel","offset":0}\n\n${head('text_delta')},"content":"lo","offset":3}\n\n${end}`,
    );
    await late.until(({ bytes }) => bytes.includes('turn_ended'));
    expect(untitled(late.bytes)).toBe(untitled(full.bytes));
    await plain.until(({ bytes }) => bytes.includes('title_changed'));
    expect(untitled(plain.bytes)).toBe('');
  });

  describe('with include=turns', () => {
    const turns = (stream: OpenStream) =>
      stream.events.map(({ data }) => data.replaceAll(/"session_id":"[^"]+",?/g, ''));

    it('has the gap and what is replayed before the turn that runs', async () => {
      await server.ask('POST', '/api/sessions', { session });
      await rename('One');
      await server.ask('POST', '/api/chat?message=Hi', { session });
      (await server.rig.next()).text('Hel');
      for (const [since, first] of [
        ['0', '{"type":"title_changed","new_title":"One"}'],
        ['7', '{"type":"gap","from":2,"to":7}'],
      ] as const) {
        const stream = await updates(`?include=turns&since=${since}`);
        await stream.until(({ bytes }) => bytes.includes('Hel'));
        expect(turns(stream)).toEqual([
          first,
          expect.stringMatching(/^\{"type":"turn_started"/),
          expect.stringMatching(/^\{"type":"text_delta",.*"content":"Hel","offset":0\}$/),
        ]);
      }
    });

    it('ends the turn that runs before it ends with the session', async () => {
      const stream = await updates('?include=turns');
      await server.ask('POST', '/api/chat?message=Hi', { session });
      (await server.rig.next()).text('Hel');
      await stream.until(({ bytes }) => bytes.includes('Hel'));
      await server.ask('DELETE', `/api/sessions/${session}`);
      await stream.end();
      const turn = /"turn_id":"([^"]+)"/.exec(stream.bytes)?.[1] ?? '';
      expect(turns(stream)).toEqual([
        `{"type":"turn_started","turn_id":"${turn}"}`,
        `{"type":"text_delta","turn_id":"${turn}","content":"Hel","offset":0}`,
        `{"type":"turn_ended","turn_id":"${turn}","status":"interrupted"}`,
      ]);
    });

    it('begins and ends turns that are cancelled while they wait, after the one that ran', async () => {
      const stream = await updates('?include=turns');
      const sent: string[] = [];
      for (const text of ['One', 'Two', 'Three']) {
        const { headers } = await server.ask('POST', `/api/chat?message=${text}`, { session });
        sent.push(headers.get('x-turn-id') ?? '');
      }
      await server.rig.next();
      await server.ask('POST', '/api/interrupt', { session });
      await stream.until(({ bytes }) => bytes.split('turn_ended').length === 4);
      expect(turns(stream)).toEqual(
        sent.flatMap((turn) => [
          `{"type":"turn_started","turn_id":"${turn}"}`,
          `{"type":"turn_ended","turn_id":"${turn}","status":"interrupted"}`,
        ]),
      );
    });
  });

  it('ends when the session is deleted, and on a drain', async () => {
    await server.ask('POST', '/api/sessions', { session });
    const first = await updates();
    await server.ask('DELETE', `/api/sessions/${session}`);
    expect(await first.end()).toBe('');
    session = randomUUID();
    const second = await updates();
    await server.core.drain(0);
    expect(await second.end()).toBe('');
  });

  it('answers HEAD with the headers alone', async () => {
    const { status, headers, text } = await server.ask('HEAD', '/api/updates', { session });
    expect([status, headers.get('content-type'), text]).toEqual([200, 'text/event-stream', '']);
  });
});

describe('GET /api/thread/updates', () => {
  it('shows the same events, with ids only for clients that have sent one', async () => {
    await server.ask('POST', '/api/sessions', { session });
    await rename('1');
    const plain = await legacyUpdates('', { 'X-Session-Id': session });
    const byQuery = await legacyUpdates(`?session_id=${session.toUpperCase()}`);
    const resumed = await legacyUpdates(`?session_id=${session}&since=0`);
    const returned = await legacyUpdates(`?session_id=${session}`, { 'Last-Event-ID': '1' });
    await rename('2');
    const withoutId = titled(2, '2').replace(/^id: 2\n/, '');
    for (const [stream, bytes] of [
      [plain, withoutId],
      [byQuery, withoutId],
      [resumed, titled(1, '1') + titled(2, '2')],
      [returned, titled(2, '2')],
    ] as const) {
      await stream.until(({ bytes: had }) => had.length >= bytes.length);
      expect(stream.bytes).toBe(bytes);
    }
  });

  it('creates the session that a header names', async () => {
    expect((await legacyUpdates('', { 'X-Session-Id': session })).response.status).toBe(200);
    expect((await server.ask('GET', `/api/sessions/${session}`)).status).toBe(200);
  });

  it('needs one of the two', async () => {
    const { status, json } = await server.ask('GET', '/api/thread/updates');
    expect([status, json]).toEqual([400, { error: expect.stringContaining('session_id') }]);
  });
});
