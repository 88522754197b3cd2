import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { Router } from 'express';
import { newSession } from '../../src/core/model/session.js';
import { createHttpServer } from '../../src/http/server.js';
import { createStreams } from '../../src/http/sse/streams.js';
import type { SurfaceName } from '../../src/surfaces/index.js';
import { sendRaw } from '../support/raw.js';
import { fakeCore } from '../support/fake-core.js';
import { keptLog } from '../support/core.js';
import { serveCore, TEST_HTTP } from '../support/http.js';
import { findViolations, type Exchange } from '../support/openapi/conformance.js';
import { tapAnswers } from '../support/openapi/tap.js';

// That the check of every answer against the documents would notice.

const session = randomUUID();
const both: readonly SurfaceName[] = ['current', 'legacy'];

interface Sent {
  readonly method?: string;
  readonly url: string;
  readonly status?: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly sent?: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

function violations({
  method = 'GET',
  url,
  status = 200,
  type,
  headers,
  sent,
  body,
}: Sent): readonly string[] {
  const exchange: Exchange = {
    request: { method, url, headers: { ...sent } },
    status,
    headers: { 'x-request-id': 'a', 'content-type': type ?? 'application/json; charset=utf-8', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    isWhole: true,
  };
  return findViolations(both, exchange);
}

const thread = { session_id: session, title: 'New Chat' };
const own = `/current/api/sessions/${session}`;

describe('an answer', () => {
  it('is taken as documented', () => {
    expect(violations({ url: own, body: thread })).toEqual([]);
    expect(
      violations({ url: own, status: 404, body: { error: 'a', code: 'not_found', request_id: 'a' } }),
    ).toEqual([]);
  });

  it.each([
    ['an unknown field', { body: { ...thread, more: 1 } }],
    ['a missing field', { body: { session_id: session } }],
    ['a wrong type', { body: { ...thread, title: null } }],
    ['an id in capitals', { body: { ...thread, session_id: session.toUpperCase().replace(/\d/g, 'A') } }],
    ['an undocumented status', { status: 409, body: thread }],
    ['another content type', { type: 'text/html', body: thread }],
    ['an undocumented header', { headers: { 'x-more': '1' }, body: thread }],
    ['a missing header', { headers: { 'x-request-id': undefined }, body: thread }],
    ['a wrong header', { headers: { 'ratelimit-limit': 'many' }, body: thread }],
    ['another surface’s error', { status: 404, body: { error: 'a' } }],
    ['another status’s code', { status: 404, body: { error: 'a', code: 'busy', request_id: 'a' } }],
    [
      'no details in a list of them',
      { status: 404, body: { error: 'a', code: 'not_found', request_id: 'a', details: [] } },
    ],
  ])('is refused for %s', (_, answer) => {
    expect(violations({ url: own, ...answer })).toHaveLength(1);
  });
});

describe('a merged answer', () => {
  const times = { created_at: '2026-11-20T12:03:57.832Z', updated_at: '2026-11-20T12:03:57.832Z' };
  const threads = [{ id: session, title: 'New Chat', ...times }];
  const url = `/api/sessions/${session}`;

  it('keeps both promises at once, and adds none', () => {
    expect(violations({ url, body: { ...thread, threads } })).toEqual([]);
    for (const body of [thread, { session_id: session, threads }, { ...thread, threads, more: 1 }]) {
      expect(violations({ url, body })).toHaveLength(1);
    }
    expect(violations({ url, body: { ...thread, threads: [{ ...threads[0], more: 1 }] } })).toHaveLength(1);
  });

  it('has the errors of the current surface', () => {
    const error = { error: 'a', code: 'not_found', request_id: 'a' };
    expect(violations({ url, status: 404, body: error })).toEqual([]);
    expect(violations({ url, status: 404, body: { error: 'a' } })).toHaveLength(1);
    expect(violations({ url: '/api/nothing', status: 404, body: error })).toEqual([]);
    expect(violations({ url: '/api/nothing', status: 404, body: { error: 'a' } })).toHaveLength(1);
    expect(violations({ url: '/legacy/api/nothing', status: 404, body: { error: 'a' } })).toEqual([]);
  });
});

describe('a stream', () => {
  const type = 'text/event-stream';
  const title = `data: ${JSON.stringify({ type: 'title_changed', session_id: session, new_title: 'a' })}\n\n`;
  const turn = `data: ${JSON.stringify({ type: 'turn_started', session_id: session, turn_id: 'a' })}\n\n`;

  it.each([
    ['current', '/current/api/updates', {}, `id: 1\n${title}: keep-alive\n\n${turn}`],
    ['legacy without a cursor', '/legacy/api/thread/updates', {}, title],
    ['legacy with a cursor', '/legacy/api/thread/updates?since=0', {}, `id: 1\n${title}`],
    ['legacy with the header', '/legacy/api/thread/updates', { 'last-event-id': '0' }, `id: 1\n${title}`],
  ])('of %s is taken as documented', (_, url, sent, body) => {
    expect(violations({ url, type, sent, body })).toEqual([]);
  });

  it.each([
    ['an event without its id', '/current/api/updates', title],
    ['an id where there is none', '/current/api/updates', `id: 1\n${turn}`],
    ['an id that was not asked for', '/legacy/api/thread/updates', `id: 1\n${title}`],
    ['an event of the other surface', '/legacy/api/thread/updates', turn],
    ['an unknown event', '/current/api/updates', 'data: {"type":"more"}\n\n'],
    ['an unknown field', '/legacy/api/thread/chat', 'data: {"type":"complete","more":1}\n\n'],
    ['a frame that is none', '/current/api/updates', `event: a\n${turn}`],
    ['a frame without its end', '/current/api/updates', turn.slice(0, -1)],
  ])('is refused for %s', (_, url, body) => {
    const method = url.endsWith('chat') ? 'POST' : 'GET';
    expect(violations({ method, url, type, body })).toHaveLength(1);
  });
});

describe('a served answer', () => {
  it('fails the end of its server when it is not as documented, whatever client it was for', async () => {
    const core = fakeCore({
      createSession: () => Promise.resolve({ session: newSession('a', 0), created: true }),
    });
    const server = await serveCore(core, { log: keptLog() });
    const lines = [
      'POST /legacy/api/sessions HTTP/1.1',
      'Host: a',
      'Connection: close',
      `X-Session-Id: ${session}`,
    ];
    expect(await sendRaw(server.url, `${lines.join('\r\n')}\r\n\r\n`)).toContain('200 OK');
    await expect(server.close()).rejects.toThrow('POST /legacy/api/sessions → 200: the body/session_id');
  });

  it('is looked at when its request was none', async () => {
    const http = createHttpServer({
      router: Router(),
      streams: createStreams(TEST_HTTP),
      dialect: { name: 'odd', keyHeader: 'X-Key', error: () => ({ odd: true }) },
      log: keptLog(),
      http: TEST_HTTP,
    });
    const tap = tapAnswers(http.server, both);
    await new Promise<void>((resolve) => http.server.listen(0, '127.0.0.1', resolve));
    const address = http.server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    expect(await sendRaw(`http://127.0.0.1:${String(port)}`, 'no request\r\n\r\n')).toContain(
      '400 Bad Request',
    );
    await http.close(0);
    expect(tap.count).toBe(1);
    expect(() => {
      tap.verify();
    }).toThrow('a broken request → 400: the body');
  });
});
