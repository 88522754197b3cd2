import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { ClientError, createClient, type Client, type ClientOptions } from '../../src/client/index.js';
import { RigError } from '../../src/core/ports/rig.js';
import { testApp } from '../support/core.js';
import { serveScripted } from '../support/http.js';
import { grantKey } from '../support/keys.js';
import type { Asked, ScriptedRig } from '../support/scripted-rig.js';
import { climb, getTime, stumble } from '../support/tools.js';
import { Received, Held, Network, said, watching } from './watching.js';

/** Sends two messages, answers the first, and begins to answer the second; a state has both by then. */
async function answerOneAndBegin(client: Client, rig: ScriptedRig): Promise<Asked> {
  for (const text of ['one', 'two']) await client.send(text);
  (await rig.next()).text('1a ').end();
  const second = await rig.next();
  second.text('2a ');
  while (said(await client.state()) !== '1a 2a ');
  return second;
}

describe.each(['current', 'legacy'] as const)('a session over the %s surface', (surface) => {
  let server: Awaited<ReturnType<typeof serveScripted>>;
  let client: Client;
  let network: Network;
  const clients: Client[] = [];

  function open(options: Partial<ClientOptions> = {}): Client {
    const made = createClient({ url: server.url, surface, fetch: network.fetch, ...options });
    clients.push(made);
    return made;
  }

  beforeEach(async () => {
    const apps = [testApp(), testApp({ name: 'paid' }), testApp({ name: 'other' })];
    server = await serveScripted({ surfaces: [surface], tools: [getTime, climb, stumble], apps });
    network = new Network();
    client = open();
  });
  afterEach(async () => {
    for (const made of clients.splice(0)) made.close();
    await server.close();
  });

  it('yields a reply with its tools, the state, and the end', async () => {
    const received = new Received(client.ask('What time is it?'));
    const first = await server.rig.next();
    first.text('Let me ', 'see. ').call('c1', 'get_time', { zone: 'UTC' }).call('c2', 'stumble').end();
    (await server.rig.next()).text('It is ', 'noon.').end();
    await received.ended;
    const [{ turnId } = { turnId: '' }] = received.of('turn_started');
    expect([...received.texts()]).toEqual([[turnId, 'Let me see. It is noon.']]);
    expect(received.of('tool')).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ callId: 'c1', name: 'get_time', status: 'running', args: { zone: 'UTC' } }),
        expect.objectContaining({
          callId: 'c1',
          status: 'complete',
          result: JSON.stringify({ time: '12:00', zone: 'UTC' }),
        }),
      ]),
    );
    expect(received.of('tool').filter(({ callId }) => callId === 'c1')).toHaveLength(2);
    expect(received.events.slice(-2)).toMatchObject([
      { type: 'state', state: { status: 'idle' } },
      { type: 'turn_ended', turnId, status: 'complete' },
    ]);
    expect((await client.state()).messages).toMatchObject([
      { sender: 'user', content: 'What time is it?' },
      { sender: 'agent', content: 'Let me see. ' },
      { toolResult: { name: expect.any(String) } },
      { toolResult: { name: expect.any(String) } },
      { sender: 'agent', content: 'It is noon.', isStreaming: false, toolResult: null },
    ]);
  });

  it('yields to a message that waited its own reply and no other', async () => {
    await client.send('one');
    const one = await server.rig.next();
    one.text('first ');
    const received = new Received(client.ask('two'));
    await received.until(() => received.of('connection').length > 0);
    one.text('answer').end();
    (await server.rig.next()).text('second').end();
    await received.ended;
    expect([...received.texts().values()]).toEqual(['second']);
    expect(said(await client.state())).toBe('first answersecond');
  });

  it('shows each watcher every word once, of queued messages too', async () => {
    const received = watching(client);
    await received.until(() => received.of('connection').length > 0);
    for (const text of ['one', 'two', 'three']) await client.send(text);
    for (const text of ['1', '2', '3'])
      (await server.rig.next()).text(`${text}a `, `${text}b `, `${text}c `).end();
    await received.until(() => received.of('turn_ended').length === 3);
    received.stop();
    await received.ended;
    const whole = '1a 1b 1c 2a 2b 2c 3a 3b 3c ';
    expect(received.views().at(-1)).toBe(whole);
    for (const view of received.views()) expect(whole).toContain(view);
    const order = received.events.flatMap((event) =>
      event.type === 'turn_started' || event.type === 'turn_ended' ? [`${event.type} ${event.turnId}`] : [],
    );
    const ids = [...received.texts().keys()];
    expect(order).toEqual(ids.flatMap((id) => [`turn_started ${id}`, `turn_ended ${id}`]));
  });

  it('shows each word once when the state has an answer whose stream is still on its way', async () => {
    const held = new Held();
    const [path, mark] =
      surface === 'legacy' ? (['/thread/chat', '"text"'] as const) : (['/updates', 'turn_started'] as const);
    client = open({ fetch: held.through(network, path, mark) });
    await client.create();
    const received = watching(client);
    await received.until(() => received.of('connection').length > 0);
    // Of its own turns the current surface's client would ask at once.
    const sender = surface === 'legacy' ? client : open({ sessionId: client.sessionId });
    await sender.send('one');
    (await server.rig.next()).text('1a ', '1b ').end();
    while (said(await client.state()) !== '1a 1b ');
    if (surface === 'current') held.begin();
    await received.until(() => received.views().at(-1) === '1a 1b ');
    held.begin();
    await received.until(() => received.of('turn_started').length > 0);
    held.release();
    await received.until(() => received.of('turn_ended').length > 0);
    received.stop();
    for (const view of received.views()) expect('1a 1b ').toContain(view);
    expect(received.views().at(-1)).toBe('1a 1b ');
  });

  it('shows each word once when a turn ends while the next one is in flight', async () => {
    const late = [new Held(), new Held()];
    const through = late.map((held) => held.through(network, '/thread/chat', '"complete"'));
    let streams = 0;
    client = open({
      fetch: (input, init) => {
        const isChat = typeof input === 'string' && input.endsWith('/thread/chat');
        return ((isChat ? through[streams++] : undefined) ?? network.fetch)(input, init);
      },
    });
    await client.create();
    const received = watching(client);
    await received.until(() => received.of('connection').length > 0);
    const second = await answerOneAndBegin(client, server.rig);
    for (const held of late.splice(0, 1)) {
      held.begin();
      held.release();
    }
    await received.until(() => received.of('turn_ended').length === 1);
    second.text('2b ').end();
    for (const held of late) {
      held.begin();
      held.release();
    }
    await received.until(() => received.of('turn_ended').length === 2);
    received.stop();
    for (const view of received.views()) expect('1a 2a 2b ').toContain(view);
    expect(received.views().at(-1)).toBe('1a 2a 2b ');
  });

  it('shows what somebody else has started', async () => {
    await client.create();
    const received = watching(client);
    await received.until(() => received.of('connection').length > 0);
    const other = open({ sessionId: client.sessionId });
    await other.send('Hello');
    const asked = await server.rig.next();
    asked.text('Good ');
    await received.until(() => received.views().at(-1) === 'Good ');
    asked.text('day').end();
    await received.until(() => received.of('turn_ended').length > 0);
    received.stop();
    expect(received.views().at(-1)).toBe('Good day');
    expect(received.of('turn_started')).toHaveLength(1);
  });

  it('goes on when the connection is cut in the middle of an answer', async () => {
    const watched = watching(client);
    await watched.until(() => watched.of('connection').length > 0);
    const received = new Received(client.ask('count'));
    const asked = await server.rig.next();
    asked.text('1 ', '2 ');
    await received.until(() => [...received.texts().values()].join('').includes('2'));
    // A watcher that has not seen the turn begin learns of it from a state, not from its end.
    await watched.until(() => watched.of('turn_started').length > 0);
    network.isDown = true;
    network.cut();
    asked.text('3 ').call('c1', 'get_time').end();
    const rest = await server.rig.next();
    rest.text('4 ');
    await received.until(() => received.of('connection').some(({ state }) => state === 'lost'));
    await watched.until(() => watched.of('connection').some(({ state }) => state === 'lost'));
    network.isDown = false;
    await received.until(() => [...received.texts().values()].join('').includes('4'));
    rest.text('5').end();
    await received.ended;
    expect([...received.texts().values()]).toEqual(['1 2 3 4 5']);
    await watched.until(() => watched.of('turn_ended').length > 0);
    watched.stop();
    expect(watched.views().at(-1)).toBe('1 2 3 4 5');
    for (const view of watched.views()) expect('1 2 3 4 5').toContain(view);
    expect(watched.of('tool').filter(({ status }) => status === 'complete')).toHaveLength(1);
  });

  it('yields a reply that ended while the client was disconnected', async () => {
    const received = new Received(client.ask('Hello'));
    const asked = await server.rig.next();
    asked.text('Good ');
    await received.until(() => received.texts().size > 0 && received.of('text').length > 0);
    network.isDown = true;
    network.cut();
    asked.text('day').end();
    await received.until(() => received.of('connection').some(({ state }) => state === 'lost'));
    const other = createClient({ url: server.url, surface, sessionId: client.sessionId });
    clients.push(other);
    const second = new Received(other.ask('More'));
    (await server.rig.next()).text('and night').end();
    await second.ended;
    network.isDown = false;
    await received.ended;
    expect([...received.texts().values()]).toEqual(['Good day']);
    expect(received.events.at(-1)).toMatchObject({ type: 'turn_ended', status: 'complete' });
  });

  it('waits for its own reply when the connection was lost while another one was in front of it', async () => {
    const frames: string[] = [];
    const asking = open({ onWireEvent: ({ data }) => frames.push(JSON.stringify(data)) });
    const other = createClient({ url: server.url, surface, sessionId: asking.sessionId });
    clients.push(other);
    await other.send('one');
    const one = await server.rig.next();
    const received = new Received(asking.ask('two'));
    while ((await other.state()).messages.length < 2);
    one.text('1a ');
    if (surface === 'current') while (!frames.some((frame) => frame.includes('1a'))) await other.state();
    network.isDown = true;
    network.cut();
    await received.until(() => received.of('connection').some(({ state }) => state === 'lost'));
    one.call('c1', 'get_time').end();
    (await server.rig.next()).end();
    (await server.rig.next()).call('c2', 'get_time').end();
    const two = await server.rig.next();
    two.text('2a ');
    while (said(await other.state()) !== '1a 2a ');
    network.isDown = false;
    await received.until(() => [...received.texts().values()].join('').includes('2a'));
    two.text('2b').end();
    await received.ended;
    expect([...received.texts().values()]).toEqual(['2a 2b']);
    expect(received.of('tool').map(({ callId, status }) => `${callId} ${status}`)).toEqual([
      'c2 running',
      'c2 complete',
    ]);
    const first = received.events.find(({ type }) => type === 'turn_started' || type === 'tool');
    expect(first).toMatchObject({ type: 'turn_started' });
  });

  it('asks once, however often it has to send', async () => {
    network.losing = surface === 'current' ? 0 : 1;
    const received = new Received(client.ask('Hello', { idempotencyKey: 'k1' }));
    if (surface === 'current') {
      await received.until(() => received.of('connection').length > 0);
    }
    (await server.rig.next()).text('Good day').end();
    await received.ended;
    const again = new Received(client.ask('Hello', { idempotencyKey: 'k1' }));
    await again.ended;
    expect([...again.texts().values()]).toEqual(['Good day']);
    network.losing = 1;
    await client.send('Bye', { idempotencyKey: 'k2' });
    (await server.rig.next()).text('Farewell').end();
    await client.send('Bye', { idempotencyKey: 'k2' });
    const { messages } = await client.state();
    expect(messages.filter(({ sender }) => sender === 'user')).toHaveLength(2);
  });

  it('says that an answer was interrupted, and takes the next message', async () => {
    const received = new Received(client.ask('count'));
    (await server.rig.next()).text('1 2');
    await received.until(() => received.of('text').length > 0);
    const state = await client.interrupt();
    expect(state.status).not.toBe('processing');
    expect(said(state)).toBe('1 2');
    await received.ended;
    expect(received.events.at(-1)).toMatchObject({ type: 'turn_ended', status: 'interrupted' });
    const next = new Received(client.ask('again'));
    (await server.rig.next()).text('ok').end();
    await next.ended;
    expect([...next.texts().values()]).toEqual(['ok']);
  });

  it('says why an answer failed', async () => {
    const received = new Received(client.ask('Hello'));
    (await server.rig.next()).fail(new RigError('the model is out of order', { retryable: false }));
    await received.ended;
    const end = received.events.at(-1);
    expect(end).toMatchObject({ type: 'turn_ended', status: 'failed', error: expect.any(String) });
    const { messages } = await client.state();
    expect(messages.at(-1)).toMatchObject({ sender: 'system' });
    expect(end).toMatchObject({ error: messages.at(-1)?.content });
  });

  it('uses the key where an App is named, and says what it is refused with', async () => {
    const key = await grantKey(server.store, ['paid']);
    const refusals = [
      [{ app: 'paid' }, 401],
      [{ app: 'paid', key: 'sk-app-wrong' }, 401],
      [{ app: 'other', key }, 403],
    ] as const;
    for (const [options, status] of refusals) {
      const failure: unknown = await open(options)
        .send('Hello')
        .catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ClientError);
      expect(failure).toMatchObject({
        kind: 'refused',
        status,
        retryable: false,
        requestId: expect.any(String),
      });
      await expect(new Received(open(options).ask('Hello')).ended).rejects.toMatchObject({ status });
    }
    const paid = open({ app: 'paid', key });
    const received = new Received(paid.ask('Hello'));
    (await server.rig.next()).text('Good day').end();
    await received.ended;
    expect([...received.texts().values()]).toEqual(['Good day']);
    expect(await paid.apps()).toEqual(['default', 'paid']);
    expect(await open().apps()).toEqual(['default']);
  });

  it('waits for a service that is not there yet', async () => {
    network.isDown = true;
    const received = watching(client);
    await received.until(() => received.of('connection').some(({ state }) => state === 'lost'));
    await expect(client.state()).rejects.toMatchObject({
      kind: 'unreachable',
      status: null,
      retryable: true,
    });
    network.isDown = false;
    await received.until(
      () =>
        received.of('connection').some(({ state }) => state === 'open') && received.of('state').length > 0,
    );
    received.stop();
    await received.ended;
    expect(received.of('state')[0]).toMatchObject({ state: { status: 'idle', messages: [] } });
  });

  it('lists and selects rigs', async () => {
    expect(await client.rigs()).toEqual([server.rig.id]);
    await client.selectRig(server.rig.id);
    await expect(client.selectRig('none')).rejects.toMatchObject({ kind: 'refused', status: 400 });
  });

  it('ends its streams when it is closed, and refuses later calls', async () => {
    const received = watching(client);
    await received.until(() => received.of('connection').length > 0);
    client.close();
    await received.ended;
    await expect(client.state()).rejects.toMatchObject({ kind: 'closed', retryable: false });
    await expect(client.send('Hello')).rejects.toMatchObject({ kind: 'closed' });
  });

  it('stops when it is aborted, and the reply continues', async () => {
    const stop = new AbortController();
    const received = new Received(client.ask('Hello', { signal: stop.signal }));
    const asked = await server.rig.next();
    asked.text('Good ');
    await received.until(() => received.of('text').length > 0);
    stop.abort(new Error('enough'));
    await expect(received.ended).rejects.toThrow('enough');
    asked.text('day').end();
    await asked.left;
    const rest = new Received(client.ask('More'));
    (await server.rig.next()).text('!').end();
    await rest.ended;
    expect(said(await client.state())).toBe('Good day!');
  });
});

describe('what the surfaces do not share', () => {
  let server: Awaited<ReturnType<typeof serveScripted>>;
  beforeEach(async () => {
    server = await serveScripted();
  });
  afterEach(() => server.close());

  it('the current one binds wallets, renames, deletes and keeps user state', async () => {
    const client = createClient({ url: `${server.url}/` });
    const wallet = `0x${'a1'.repeat(20)}`;
    expect(await client.create(wallet)).toEqual({ sessionId: client.sessionId, title: 'New Chat' });
    await client.rename(client.sessionId, 'Mine');
    expect(await client.threads(wallet)).toEqual([{ sessionId: client.sessionId, title: 'Mine' }]);
    const state = await client.setUserState({ evm: { chain_id: 1 } });
    expect(state).toMatchObject({ title: 'Mine', userState: { evm: { chain_id: 1 } } });
    await client.delete(client.sessionId);
    await expect(client.state()).rejects.toMatchObject({ status: 404, code: 'not_found' });
    await client.create();
    expect(await client.threads(wallet)).toEqual([]);
    const received = watching(client);
    await received.until(() => received.of('connection').length > 0);
    await client.rename(client.sessionId, 'Again');
    await received.until(() => received.of('title').length > 0);
    expect(received.of('title')).toEqual([{ type: 'title', title: 'Again' }]);
    client.close();
  });

  it('the current one shows each word once when a state contains the next turn before the stream has reported the end of the previous one', async () => {
    const held = new Held();
    const fetch = held.through(new Network(), '/updates', 'text_delta');
    const client = createClient({ url: server.url, fetch });
    held.begin();
    const received = watching(client);
    await received.until(() => received.of('connection').length > 0);
    const second = await answerOneAndBegin(client, server.rig);
    // The sender reads the state.
    await client.send('three');
    await received.until(() => received.views().at(-1) === '1a 2a ');
    held.release();
    await received.until(() => received.of('turn_started').length === 2);
    second.text('2b ').end();
    (await server.rig.next()).text('3a ').end();
    await received.until(() => received.of('turn_ended').length === 3);
    received.stop();
    for (const view of received.views()) expect('1a 2a 2b 3a ').toContain(view);
    expect(received.views().at(-1)).toBe('1a 2a 2b 3a ');
    client.close();
  });

  it('the current one reads the stored messages with their turns, and branches before one', async () => {
    const client = createClient({ url: server.url });
    await client.send('One');
    (await server.rig.next()).text('First').end({ inputTokens: 3, outputTokens: 2 });
    const received = watching(client);
    await received.until(
      () => client.sessionId !== '' && received.of('state').some(({ state }) => state.status === 'idle'),
    );
    received.stop();
    const { messages, turns, hasMore } = await client.historyPage({ limit: 10 });
    expect(messages).toMatchObject([
      { role: 'user', content: 'One', toolCalls: [] },
      { role: 'assistant', content: 'First' },
    ]);
    expect(turns).toMatchObject([
      {
        turnId: messages[0]?.turnId,
        status: 'complete',
        rig: 'scripted',
        inputTokens: 3,
        outputTokens: 2,
        error: null,
      },
    ]);
    expect(hasMore).toBe(false);
    const before = messages[1]?.id ?? '';
    expect((await client.historyPage({ limit: 1, before })).messages).toEqual([messages[0]]);
    const branch = await client.branch(before);
    expect(branch.sessionId).not.toBe(client.sessionId);
    const copy = createClient({ url: server.url, sessionId: branch.sessionId });
    expect((await copy.state()).messages).toMatchObject([{ sender: 'user', content: 'One' }]);
    await expect(client.branch(randomUUID())).rejects.toMatchObject({ status: 400, code: 'invalid' });
    client.close();
    copy.close();
  });

  it('the current one yields its own reply when another client has sent the same text after it', async () => {
    const said = (sender: string, content: string) => ({ sender, content });
    const empty = { messages: [], is_processing: false };
    const messages = ['Good day', 'Again'].flatMap((reply) => [said('user', 'Hello'), said('agent', reply)]);
    const stored = { headers: { 'X-Turn-Id': 't' } };
    const events = { headers: { 'Content-Type': 'text/event-stream' } };
    const answers = [
      ...[Response.json(empty), new Response(new ReadableStream(), events)],
      ...[
        new Response('', { status: 502 }),
        Response.json(empty, stored),
        Response.json({
          messages: [],
          turns: [{ turn_id: 't', status: 'complete', ended_at: '2026-01-01' }],
        }),
        Response.json({ ...empty, messages }),
      ],
    ];
    const fetch = () => Promise.resolve(answers.shift() ?? Response.error());
    const received = new Received(createClient({ url: '', fetch }).ask('Hello'));
    await received.ended;
    expect([...received.texts()]).toEqual([['t', 'Good day']]);
  });

  it('the legacy one says so', async () => {
    const client = createClient({
      url: server.url,
      surface: 'legacy',
      sessionId: randomUUID().toUpperCase(),
    });
    expect(await client.threads('any')).toEqual([]);
    expect(await client.create()).toEqual({ sessionId: client.sessionId.toLowerCase(), title: 'New Chat' });
    expect(await client.threads('any')).toEqual([{ sessionId: client.sessionId, title: 'New Chat' }]);
    const calls = [
      () => client.create('0xwallet'),
      () => client.rename(client.sessionId, 'Mine'),
      () => client.delete(client.sessionId),
      () => client.branch(),
      () => client.historyPage({ limit: 1 }),
      () => client.setUserState({}),
      () => client.send('Hello', { wallet: '0xwallet' }),
    ];
    for (const call of calls)
      await expect(call()).rejects.toMatchObject({ kind: 'unsupported', status: null });
    const received = watching(client);
    await received.until(() => received.of('connection').length > 0);
    await server.ask('PATCH', `/api/sessions/${client.sessionId}`, { body: { title: 'Renamed' } });
    await received.until(() => received.of('title').length > 0);
    expect((await client.state()).title).toBe('Renamed');
    client.close();
  });

  it('the legacy one yields a title that changed before its updates stream was open', async () => {
    const client = createClient({
      url: server.url,
      surface: 'legacy',
      fetch: async (input, init) => {
        if (new Request(input).url.endsWith('/api/thread/updates'))
          await server.ask('PATCH', `/api/sessions/${client.sessionId}`, { body: { title: 'Renamed' } });
        return fetch(input, init);
      },
    });
    try {
      await client.create();
      const received = watching(client);
      await received.until(() => received.of('state').some(({ state }) => state.title === 'Renamed'));
      expect(received.of('title')).toEqual([]);
    } finally {
      client.close();
    }
  });

  it('the legacy one reads the title again without an updates stream', async () => {
    const client = createClient({ url: server.url, surface: 'legacy' });
    try {
      await client.create();
      expect((await client.state()).title).toBe('New Chat');
      await server.ask('PATCH', `/api/sessions/${client.sessionId}`, { body: { title: 'Renamed' } });
      expect((await client.state()).title).toBe('Renamed');
    } finally {
      client.close();
    }
  });

  it('the legacy one shows the text of its reply when no state can be read', async () => {
    let isLimited = false;
    const client = createClient({
      url: server.url,
      surface: 'legacy',
      fetch: (input, init) =>
        isLimited && new URL(new Request(input).url).pathname.endsWith('/state')
          ? Promise.resolve(Response.json({}, { status: 429, headers: { 'Retry-After': '60' } }))
          : fetch(input, init),
    });
    try {
      const received = watching(client);
      await received.until(() => received.of('state').length > 0);
      isLimited = true;
      await client.send('Hello');
      const asked = await server.rig.next();
      asked.text('Yes');
      await received.until(() => received.of('text').length > 0);
      expect([...received.texts().values()]).toEqual(['Yes']);
      asked.end();
    } finally {
      client.close();
    }
  });
});
