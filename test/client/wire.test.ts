import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ClientError, createClient, type Exchange, type WireEvent } from '../../src/client/index.js';
import { Received, watching } from './watching.js';

interface Request {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: unknown;
}

/** A fetch whose answers the test gives, in order; what it was asked. */
function scripted(...answers: (() => Response | Promise<Response>)[]) {
  const requests: Request[] = [];
  const fetch: typeof globalThis.fetch = (input, init) => {
    const url = typeof input === 'string' ? input : input instanceof URL ? input.href : input.url;
    const body: unknown = typeof init?.body === 'string' ? JSON.parse(init.body) : undefined;
    requests.push({ method: init?.method ?? 'GET', url, headers: new Headers(init?.headers), body });
    const next = answers.shift();
    return next === undefined ? Promise.reject(new TypeError('no answer is left')) : Promise.resolve(next());
  };
  return { fetch, requests };
}

const json =
  (body: unknown, init: ResponseInit = {}) =>
  () =>
    Response.json(body, init);
const EVENTS = { headers: { 'Content-Type': 'text/event-stream' } };
/** The record of a turn that has ended. */
const record = (status = 'complete') =>
  json({ messages: [], turns: [{ turn_id: 't', status, ended_at: '2026-01-01T00:00:00.000Z' }] });
const EMPTY = { messages: [], system_events: [], title: 'New Chat', is_processing: false, user_state: null };

/** A stream that says this, and then stays open. */
function stream(...frames: string[]): () => Response {
  return () =>
    new Response(
      new ReadableStream({
        start(controller) {
          for (const frame of frames) controller.enqueue(new TextEncoder().encode(frame));
        },
      }),
      EVENTS,
    );
}

describe('requests', () => {
  it('go to the page’s origin where no URL is given, with the session and its options', async () => {
    const { fetch, requests } = scripted(json(EMPTY), json(EMPTY));
    const client = createClient({ url: '', fetch, app: 'coin', key: 'sk-app-1', clientId: 'c'.repeat(16) });
    await client.send('Hello & 你好', { wallet: '0xw', userState: { a: 1 }, idempotencyKey: 'k' });
    await client.state();
    expect(requests[0]).toMatchObject({
      method: 'POST',
      url: '/current/api/chat',
      body: {
        message: 'Hello & 你好',
        app: 'coin',
        public_key: '0xw',
        user_state: { a: 1 },
        client_id: 'c'.repeat(16),
      },
    });
    expect(Object.fromEntries(requests[0]?.headers ?? [])).toMatchObject({
      'x-session-id': client.sessionId,
      'service-app-key': 'sk-app-1',
      'idempotency-key': 'k',
      'content-type': 'application/json',
    });
    expect(requests[1]?.headers.has('service-app-key')).toBe(false);
  });

  it('carry no key where no App is named', async () => {
    const { fetch, requests } = scripted(json(EMPTY));
    await createClient({ url: '', fetch, key: 'sk-app-1' }).send('Hello');
    expect(requests[0]?.headers.has('service-app-key')).toBe(false);
  });

  it('are reported, failed ones too', async () => {
    const seen: Exchange[] = [];
    const { fetch } = scripted(json(EMPTY, { headers: { 'Retry-After': '2' } }));
    const client = createClient({ url: 'http://host', fetch, onExchange: (exchange) => seen.push(exchange) });
    await client.state();
    await expect(client.state()).rejects.toBeInstanceOf(ClientError);
    expect(seen).toMatchObject([
      { method: 'GET', url: 'http://host/current/api/state', status: 200, retryAfterMs: 2000 },
      { method: 'GET', body: undefined, status: null, retryAfterMs: null },
    ]);
    expect(seen[0]?.headers).toMatchObject({ 'X-Session-Id': client.sessionId });
  });
});

describe('responses', () => {
  it.each([
    ['no body', undefined],
    ['a body of another kind', {}],
  ])('are read as text if fetch provides %s', async (_, body) => {
    const { fetch } = scripted(
      ...[{ ...EMPTY, title: 'Grüße' }, { error: 'busy' }].map((content, index) => () => {
        const response = Response.json(content, { status: index === 0 ? 200 : 503 });
        return Object.defineProperty(response, 'body', { value: body });
      }),
    );
    const client = createClient({ url: '', fetch });
    await expect(client.state()).resolves.toMatchObject({ title: 'Grüße' });
    await expect(client.state()).rejects.toMatchObject({ status: 503, message: 'busy (HTTP 503)' });
  });

  it('that were read already count as lost', async () => {
    const { fetch } = scripted(() => {
      const response = Response.json(EMPTY);
      response.body?.getReader();
      return response;
    });
    await expect(createClient({ url: '', fetch }).state()).rejects.toMatchObject({ kind: 'unreachable' });
  });
});

describe('failures', () => {
  it('say all that the service says', async () => {
    const details = [{ path: 'rig', message: 'rig is required' }];
    const body = { error: 'rig is required', code: 'invalid', request_id: 'r1', details };
    const { fetch } = scripted(json(body, { status: 400 }));
    await expect(createClient({ url: '', fetch }).selectRig('')).rejects.toMatchObject({
      ...{ name: 'ClientError', kind: 'refused', message: 'rig is required (HTTP 400)' },
      ...{ status: 400, code: 'invalid', requestId: 'r1', details, retryable: false, retryAfterMs: null },
    });
  });

  it('can be an answer that is no JSON, from a proxy', async () => {
    const page = () => new Response('<html>', { status: 502, statusText: 'Bad Gateway' });
    const { fetch } = scripted(page, () => new Response('<html>'));
    const client = createClient({ url: '', fetch });
    await expect(client.state()).rejects.toMatchObject({ status: 502, retryable: true, code: null });
    await expect(client.state()).rejects.toMatchObject({ kind: 'unreachable', retryable: true });
  });

  it('have a message when HTTP/2 gives no reason phrase', async () => {
    const { fetch } = scripted(() => new Response('<html>', { status: 403 }));
    await expect(createClient({ url: '', fetch }).state()).rejects.toMatchObject({
      ...{ kind: 'refused', message: 'The request failed (HTTP 403)' },
    });
  });

  it('read a date in Retry-After relative to the Date of the response, not to the local clock', async () => {
    const headers = { Date: 'Tue, 01 Jan 2030 00:00:00 GMT', 'Retry-After': 'Tue, 01 Jan 2030 00:00:07 GMT' };
    const { fetch } = scripted(json({ error: 'busy' }, { status: 503, headers }));
    await expect(createClient({ url: '', fetch }).state()).rejects.toMatchObject({ retryAfterMs: 7_000 });
  });

  it('are a TypeError when a header cannot be sent', async () => {
    const { fetch, requests } = scripted();
    const client = createClient({ url: '', fetch, app: 'coin', key: 'sk-app…' });
    await expect(client.send('Hello')).rejects.toMatchObject({ name: 'TypeError' });
    expect(requests).toEqual([]);
  });

  it.each([
    ['current', 404],
    ['current', 410],
    ['legacy', 404],
  ] as const)(
    'of a proxy that knows no such path say nothing of the session, on the %s surface with %i',
    async (surface, status) => {
      const { fetch } = scripted(() => new Response('<html>', { status }));
      await expect(createClient({ url: '', fetch, surface }).state()).rejects.toMatchObject({
        ...{ kind: 'unreachable', status, retryable: true },
      });
    },
  );

  it('of a legacy stream do not send the message again to a thread that was deleted', async () => {
    const gone = json({ error: 'session not found' }, { status: 404 });
    const cut = stream('data: {"type":"error","message":"The reply cannot be shown."}\n\n');
    const { fetch, requests } = scripted(cut, gone, gone);
    const received = new Received(createClient({ url: '', fetch, surface: 'legacy' }).ask('Hello'));
    await received.ended;
    expect(received.of('turn_ended')).toMatchObject([
      { status: 'failed', error: 'The reply cannot be shown.' },
    ]);
    expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  it('of a legacy stream do not send the message again once the service may have forgotten its key', async () => {
    const now = jest.spyOn(Date, 'now').mockReturnValue(0);
    const cut = () => new Response('data: {"type":"text","content":"Good "}\n\n', EVENTS);
    const said = (sender: string, content: string) => ({
      sender,
      content,
      timestamp: '',
      is_streaming: false,
    });
    const state = json({ ...EMPTY, messages: [said('user', 'Hello'), said('agent', 'Good day')] });
    const thread = () => {
      now.mockReturnValue(21 * 60 * 60_000);
      return Response.json({ title: 'T' });
    };
    const { fetch, requests } = scripted(cut, thread, state);
    const received = new Received(createClient({ url: '', fetch, surface: 'legacy' }).ask('Hello'));
    await received.ended;
    expect(received.of('turn_ended')).toMatchObject([{ status: 'complete' }]);
    expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
    now.mockRestore();
  });

  it.each([
    { turn: 'runs on', statuses: ['processing', 'processing', 'processing'], end: 'complete' },
    { turn: 'has ended since', statuses: ['processing', 'idle'], end: 'complete' },
    { turn: 'cannot be shown', statuses: ['idle', 'idle'], end: 'failed' },
  ])(
    'of a legacy stream, the same again, end the turn only where it $turn: $end',
    async ({ statuses, end }) => {
      const said = {
        sender: 'agent',
        content: 'Good ',
        timestamp: '',
        is_streaming: false,
        tool_result: null,
      };
      let streams = 0;
      const fetch: typeof globalThis.fetch = (input) => {
        if (!new Request(input).url.endsWith('/chat'))
          return Promise.resolve(
            Response.json({ ...EMPTY, messages: [said], status: statuses[streams - 1] ?? 'idle' }),
          );
        const isCut = statuses[streams++] !== undefined;
        const rest = isCut ? { type: 'error', message: 'restarting' } : { type: 'text', content: 'day' };
        const frames = [{ type: 'text', content: 'Good ' }, rest, { type: 'complete' }];
        return Promise.resolve(
          new Response(frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join(''), EVENTS),
        );
      };
      const client = createClient({ url: 'http://host', fetch, surface: 'legacy' });
      const received = new Received(client.ask('Hello'));
      await received.ended;
      expect(received.of('turn_ended')).toMatchObject([{ status: end }]);
      expect([...received.texts().values()]).toEqual([end === 'complete' ? 'Good day' : 'Good ']);
    },
  );

  it.each(['current', 'legacy'] as const)(
    'that pass are tried again with the same key, on the %s surface',
    async (surface) => {
      const busy = json({ error: 'restarting' }, { status: 503, headers: { 'Retry-After': '0' } });
      const lost = () => Promise.reject(new TypeError('connection reset'));
      const done = surface === 'current' ? json(EMPTY) : stream();
      const { fetch, requests } = scripted(busy, lost, busy, done);
      await createClient({ url: '', fetch, surface }).send('Hello');
      expect(requests).toHaveLength(4);
      expect(new Set(requests.map(({ headers }) => headers.get('idempotency-key'))).size).toBe(1);
    },
  );

  it.each(['was sent again', 'was cancelled while it waited'])(
    'of a read after the message %s are tried again',
    async (event) => {
      const lost = () => Promise.reject(new TypeError('connection reset'));
      const stored = json(EMPTY, { headers: { 'X-Turn-Id': 't' } });
      const end = { type: 'turn_ended', turn_id: 't', status: 'interrupted' };
      const state = json({ ...EMPTY, messages: [{ sender: 'user', content: 'Hello' }] });
      const isRepeat = event === 'was sent again';
      const again = [stream(), record('interrupted'), state];
      const { fetch } = scripted(
        ...(isRepeat
          ? [json(EMPTY), stream(), lost, stored, lost, stream(), record(), state]
          : [json(EMPTY), stream(`data: ${JSON.stringify(end)}\n\n`), stored, state, lost, ...again]),
      );
      const received = new Received(createClient({ url: '', fetch }).ask('Hello'));
      await received.ended;
      expect(received.of('turn_ended')).toMatchObject([
        { turnId: 't', status: isRepeat ? 'complete' : 'interrupted' },
      ]);
    },
  );

  it('can be a page in place of a stream, which does not say that a message is stored', async () => {
    const page = () => new Response('<html>', { headers: { 'Content-Type': 'text/html' } });
    const { fetch, requests } = scripted(page, stream());
    await createClient({ url: '', fetch, surface: 'legacy' }).send('Hello');
    expect(requests).toHaveLength(2);
  });

  it('that would take long to pass are reported at once', async () => {
    const over = json({ error: 'quota' }, { status: 429, headers: { 'Retry-After': '3600' } });
    const { fetch, requests } = scripted(over);
    const failure = createClient({ url: '', fetch }).send('Hello');
    await expect(failure).rejects.toMatchObject({ status: 429, retryable: true, retryAfterMs: 3_600_000 });
    expect(requests).toHaveLength(1);
  });
});

describe('streams', () => {
  const frame = (data: object, id?: number) =>
    `${id === undefined ? '' : `id: ${String(id)}\n`}data: ${JSON.stringify(data)}\n\n`;
  const state = (cursor: number, title: string) =>
    json({ ...EMPTY, title }, { headers: { 'X-Event-Cursor': String(cursor) } });

  it('go on from their cursor, drop what is known, and read the state after a gap', async () => {
    const seen: WireEvent[] = [];
    const titled = (id: number) => frame({ type: 'title_changed', new_title: String(id) }, id);
    const { fetch, requests } = scripted(
      ...[state(4, 'four'), stream(titled(4), titled(5), frame({ type: 'gap', from: 6, to: 9 }), titled(10))],
      ...[state(5, 'five'), state(10, 'ten')],
    );
    const client = createClient({ url: '', fetch, onWireEvent: (event) => seen.push(event) });
    const received = watching(client);
    await received.until(() => received.of('title').length === 2);
    received.stop();
    expect(requests[1]?.headers.get('last-event-id')).toBe('4');
    expect(requests[1]?.url).toBe('/current/api/updates?include=turns');
    expect(received.of('title').map(({ title }) => title)).toEqual(['5', '10']);
    expect(received.of('state').map((event) => event.state.title)).toEqual(['four', 'five', 'ten']);
    expect(seen.map(({ id }) => id)).toEqual(['4', '5', undefined, '10']);
  });

  it.each(['ask', 'watch'] as const)(
    'end a turn for %s whose last state was lost, although nothing has changed when they are open again',
    async (call) => {
      const frames = ['turn_started', 'turn_ended'].map((type) => frame({ type, turn_id: 't' }));
      const said = (content: string, sender = 'user') => ({ content, sender });
      const ended = { ...EMPTY, messages: [said('Hello'), said('Good day', 'agent')] };
      const lost = () => Promise.reject(new TypeError('connection reset'));
      const same = () => new Response(null, { status: 304 });
      const stored = json(EMPTY, { headers: { 'X-Turn-Id': 't' } });
      const { fetch } = scripted(
        ...[state(0, 'x'), stream(...frames), ...(call === 'ask' ? [stored] : [])],
        ...[json(ended), ...(call === 'ask' ? [] : [same, record()]), lost, stream()],
        ...[...(call === 'ask' ? [record()] : []), same],
      );
      const client = createClient({ url: '', fetch });
      const received = call === 'ask' ? new Received(client.ask('Hello')) : watching(client);
      await received.until(() => received.of('turn_ended').length > 0);
      client.close();
      expect(received.of('turn_ended')).toEqual([{ type: 'turn_ended', turnId: 't', status: 'complete' }]);
    },
  );

  it('do not repeat the text of a turn whose end was missed', async () => {
    const delta = { type: 'text_delta', turn_id: 't', content: 'Good day', offset: 0 };
    const cut = () => new Response(frame({ type: 'turn_started', turn_id: 't' }) + frame(delta), EVENTS);
    const running = json({ ...EMPTY, is_processing: true });
    const { fetch } = scripted(
      ...[state(0, 'x'), cut, running, running, record()],
      ...[stream(), state(0, 'y'), state(0, 'z')],
    );
    const client = createClient({ url: '', fetch });
    const received = watching(client);
    await received.until(() => received.of('turn_ended').length > 0);
    client.refresh();
    await received.until(() => received.of('state').at(-1)?.state.title === 'z');
    client.close();
    await received.ended;
    expect(received.of('text').map(({ content }) => content)).toEqual(['Good day']);
  });

  it('are read whatever their pieces are cut into', async () => {
    const bytes = new TextEncoder().encode(frame({ type: 'system_notice', message: 'Grüße 你好' }, 1));
    const cut = () =>
      new Response(
        new ReadableStream({
          start(controller) {
            for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
          },
        }),
        EVENTS,
      );
    const { fetch } = scripted(state(0, 'x'), cut, () => new Response(null, { status: 304 }));
    const received = watching(createClient({ url: '', fetch }));
    await received.until(() => received.of('notice').length > 0);
    received.stop();
    expect(received.of('notice')).toEqual([{ type: 'notice', message: 'Grüße 你好' }]);
    expect(received.of('state')).toHaveLength(1);
  });
});

describe('watch', () => {
  it.each([
    { failures: 0, requests: 1, args: { a: 1 } },
    { failures: 1, requests: 2, args: { a: 1 } },
    { failures: 99, requests: 3, args: undefined },
  ])('reads the records of all calls that it missed at once: $failures failures', async (expected) => {
    const encoder = new TextEncoder();
    // The first stream reports the first call, the second one this call again and 28 that were missed.
    const calls = ['c0', ...Array.from({ length: 29 }, (_, index) => `c${String(index)}`)];
    const events = calls.map((callId, index) => {
      const data = {
        type: 'tool_complete',
        call_id: callId,
        tool_name: 'add',
        status: 'complete',
        result: '1',
      };
      return encoder.encode(`id: ${String(index + 1)}\ndata: ${JSON.stringify(data)}\n\n`);
    });
    const recent = [{ call_id: 'c28', name: 'add', args: { a: 1 } }];
    const stored = [{ id: 'm', turn_id: 't', role: 'assistant', content: '', tool_calls: recent }];
    let streams = 0;
    let requests = 0;
    const fetch: typeof globalThis.fetch = (input) => {
      const { pathname } = new URL(new Request(input).url);
      if (pathname.endsWith('/messages')) {
        const messages = streams < 2 ? [] : stored;
        const fails = streams === 2 && ++requests <= expected.failures;
        return Promise.resolve(Response.json({ messages, has_more: false }, { status: fails ? 429 : 200 }));
      }
      const headers = { 'X-Event-Cursor': streams < 2 ? '0' : '30' };
      if (pathname.endsWith('/state'))
        return Promise.resolve(
          Response.json({ ...EMPTY, title: streams < 2 ? 'before' : 'after' }, { headers }),
        );
      const isFirst = streams++ === 0;
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (const event of isFirst ? events.slice(0, 1) : events.slice(1)) controller.enqueue(event);
          if (isFirst) controller.close();
        },
      });
      return Promise.resolve(new Response(body, EVENTS));
    };
    const received = watching(createClient({ url: 'http://host', fetch }));
    await received.until(() => received.of('state').at(-1)?.state.title === 'after');
    received.stop();
    expect(received.of('tool').map(({ callId }) => callId)).toEqual(calls);
    expect(received.of('tool').at(-1)?.args).toEqual(expected.args);
    expect(requests).toBe(expected.requests);
  });
});

describe('in time', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it.each(['current', 'legacy'] as const)(
    'a session is followed again after the delay that the service asked for, on the %s surface',
    async (surface) => {
      let isOver = false;
      const sentAt: number[] = [];
      const begun = Date.now();
      const fetch: typeof globalThis.fetch = (input) => {
        sentAt.push(Date.now() - begun);
        if (!isOver)
          return Promise.resolve(
            json({ error: 'quota' }, { status: 429, headers: { 'Retry-After': '3000' } })(),
          );
        const isStream = typeof input === 'string' && input.includes('/updates');
        return Promise.resolve(isStream ? stream()() : json(EMPTY, { headers: { 'X-Event-Cursor': '0' } })());
      };
      const received = watching(createClient({ url: '', fetch, surface }));
      await received.until(() => received.of('connection').length === 1);
      const asked = sentAt.length;
      await jest.advanceTimersByTimeAsync(2_999_000);
      expect(sentAt).toHaveLength(asked);
      isOver = true;
      await jest.advanceTimersByTimeAsync(10_000);
      await received.until(() => received.of('state').length > 0);
      received.stop();
      expect(received.of('connection').map(({ state }) => state)).toEqual(['lost', 'open']);
    },
  );

  it.each(['current', 'legacy'] as const)(
    'a message is given up after twelve attempts, on the %s surface',
    async (surface) => {
      const { fetch, requests } = scripted();
      const asked = new Received(createClient({ url: '', fetch, surface }).ask('Hello'));
      await jest.advanceTimersByTimeAsync(120_000);
      await expect(asked.ended).rejects.toMatchObject({ kind: 'unreachable' });
      expect(requests).toHaveLength(12);
      expect(asked.of('connection').map(({ state }) => state)).toEqual(['lost']);
    },
  );

  it.each(['current', 'legacy'] as const)(
    'a message does not wait for a service that asks for a long delay, on the %s surface',
    async (surface) => {
      const { fetch } = scripted(json({ error: 'quota' }, { status: 429, headers: { 'Retry-After': '31' } }));
      const asked = new Received(createClient({ url: '', fetch, surface }).ask('Hello'));
      await expect(asked.ended).rejects.toMatchObject({ status: 429, retryAfterMs: 31_000 });
    },
  );

  it.each(['current', 'legacy'] as const)(
    'streams that end immediately are reopened with growing delays, on the %s surface',
    async (surface) => {
      let opened = 0;
      const fetch: typeof globalThis.fetch = (input) => {
        const isStream = typeof input === 'string' && input.includes('/updates');
        if (isStream) opened++;
        return Promise.resolve(isStream ? new Response('', EVENTS) : json(EMPTY)());
      };
      const received = watching(createClient({ url: '', fetch, surface }));
      await jest.advanceTimersByTimeAsync(60_000);
      received.stop();
      expect(opened).toBeGreaterThan(10);
      expect(opened).toBeLessThan(30);
    },
  );

  it('a stream that was open for long is reopened without a long delay', async () => {
    const openedAt: number[] = [];
    const ends: (() => void)[] = [];
    const fetch: typeof globalThis.fetch = (input) => {
      if (typeof input !== 'string' || !input.includes('/updates')) return Promise.resolve(json(EMPTY)());
      openedAt.push(Date.now());
      const body = new ReadableStream({
        start(controller) {
          if (openedAt.length < 9) controller.close();
          else
            ends.push(() => {
              controller.close();
            });
        },
      });
      return Promise.resolve(new Response(body, EVENTS));
    };
    const received = watching(createClient({ url: '', fetch }));
    await jest.advanceTimersByTimeAsync(60_000);
    expect(openedAt).toHaveLength(9);
    const endedAt = Date.now();
    ends[0]?.();
    await jest.advanceTimersByTimeAsync(200);
    received.stop();
    expect(openedAt[9]).toBeLessThan(endedAt + 101);
  });

  it('a body that arrives slowly is read to its end', async () => {
    const pieces = JSON.stringify({ ...EMPTY, title: 'Grüße' }).match(/.{1,30}/g) ?? [];
    const slow: typeof fetch = (_input, init) =>
      Promise.resolve(
        new Response(
          new ReadableStream({
            async start(controller) {
              init?.signal?.addEventListener('abort', () => {
                controller.error(init.signal?.reason);
              });
              for (const piece of pieces) {
                await new Promise((resolve) => setTimeout(resolve, 60_000));
                controller.enqueue(new TextEncoder().encode(piece));
              }
              controller.close();
            },
          }),
        ),
      );
    const state = expect(createClient({ url: '', fetch: slow }).state()).resolves.toMatchObject({
      title: 'Grüße',
    });
    await jest.advanceTimersByTimeAsync(60_000 * pieces.length);
    await state;
  });

  it.each([200, 429])('a body that stops to arrive is a lost connection, with %i', async (status) => {
    const stalled: typeof fetch = (_input, init) =>
      Promise.resolve(
        new Response(
          new ReadableStream({
            start(controller) {
              controller.enqueue(new TextEncoder().encode('{"messages": ['));
              init?.signal?.addEventListener('abort', () => {
                controller.error(init.signal?.reason);
              });
            },
          }),
          { status },
        ),
      );
    let isLost = false;
    const state = createClient({ url: '', fetch: stalled }).state();
    const failure = expect(state.finally(() => (isLost = true))).rejects.toMatchObject({
      ...{ kind: 'unreachable', retryable: true },
    });
    await jest.advanceTimersByTimeAsync(89_999);
    expect(isLost).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    await failure;
  });
});

describe('where crypto.randomUUID is missing', () => {
  afterEach(() => {
    // What the platform has, behind what the test has put before it.
    Reflect.deleteProperty(crypto, 'randomUUID');
  });

  it('ids are UUIDs all the same', () => {
    Object.defineProperty(crypto, 'randomUUID', { value: undefined, configurable: true, writable: true });
    const ids = Array.from({ length: 50 }, () => createClient({ url: '' }).sessionId);
    for (const id of ids)
      expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
