import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import fc from 'fast-check';
import { createStreams } from '../../src/http/sse/streams.js';
import { listMounts } from '../../src/surfaces/index.js';
import { fakeCore } from '../support/fake-core.js';
import { serveScripted } from '../support/http.js';

const about = { version: '0', surfaces: [] };
const parts = { core: fakeCore({}), streams: createStreams({ keepAliveMs: 0 }), about };
/** Every path that there is, with its parameters still in it. */
const patterns = [
  ...new Set(
    listMounts(parts, ['current', 'legacy', 'field']).flatMap(({ base, routes }) =>
      routes.map(({ path }) => base + path),
    ),
  ),
];

let server: Awaited<ReturnType<typeof serveScripted>>;
beforeAll(async () => (server = await serveScripted({ surfaces: ['current', 'legacy', 'field'] })));
afterAll(() => server.close());

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | Buffer;
}

interface Received {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** Sends anything that Node can put on the wire; a stream is left after its headers. */
function send({ method, path, headers, body }: Sent): Promise<Received> {
  return new Promise((resolve, reject) => {
    const sent = request(
      server.url + path,
      { method, headers: { ...headers, Connection: 'close', 'Content-Length': Buffer.byteLength(body) } },
      (answer) => {
        const status = answer.statusCode ?? 0;
        const type = answer.headers['content-type'] ?? '';
        if (type === 'text/event-stream') {
          resolve({ status, type, text: '' });
          answer.on('error', () => undefined).destroy();
          return;
        }
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        answer.on('end', () => {
          resolve({ status, type, text });
        });
        answer.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

const known = [randomUUID(), randomUUID()];
const id = fc.oneof(fc.constantFrom(...known), fc.uuid(), fc.string({ maxLength: 40 }));
const names = [
  ...[
    'message',
    'app',
    'public_key',
    'user_state',
    'client_id',
    'session_id',
    'rig',
    'baml',
    'model',
    'text',
  ],
  ...['transactions', 'from', 'chain_id'],
  ...['title', 'tail', 'limit', 'cursor', 'before', 'count', 'since', 'include', '__proto__', 'a[b]', ''],
];
const value = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom(
    'default',
    'scripted',
    'null',
    '{}',
    '{"evm":{}}',
    '{"type":"wallet:tx_complete","payload":{"status":"failed","pending_tx_ids":[1,"2",-1]}}',
    '{"type":"wallet_eip712_response","payload":{"pending_eip712_id":1}}',
    '{"type":"wallet:state_changed","payload":{"address":"0x1","isConnected":true}}',
    '[]',
    '0',
    '1',
    '-1',
    '1e9',
    'turns',
    ' ',
  ),
  fc.json({ maxDepth: 3 }),
  id,
);
const pair = fc.tuple(fc.constantFrom(...names), value);
const query = fc.oneof(
  fc
    .array(pair, { maxLength: 6 })
    .map((pairs) =>
      pairs
        .map(([name, text]) => `${encodeURIComponent(name)}=${encodeURIComponent(text.toWellFormed())}`)
        .join('&'),
    ),
  fc.constantFrom(
    '%',
    '%zz=%zz',
    '&&&===',
    '%00=%00',
    'message=%ff%fe',
    'message=%ED%A0%80',
    'a'.repeat(20_000),
  ),
);
const headerText = fc.oneof(
  id.map((text) => text.replace(/[^\x20-\x7e]/g, '')),
  fc.constantFrom(
    '*/*',
    'text/event-stream',
    'application/json',
    'wait=0',
    'wait=x',
    '*',
    '"x"',
    '0',
    '99',
    'gzip',
    '',
  ),
);
const headers = fc.dictionary(
  fc.constantFrom(
    ...[
      'X-Session-Id',
      'SERVICE-APP-KEY',
      'X-API-Key',
      'Content-Type',
      'Accept',
      'Idempotency-Key',
      'If-None-Match',
    ],
    ...['Last-Event-ID', 'X-Request-Id', 'Origin', 'Content-Encoding', 'Access-Control-Request-Method'],
  ),
  headerText,
  { maxKeys: 5 },
);
const body = fc.oneof(
  fc.constant(''),
  fc
    .dictionary(fc.constantFrom(...names), fc.oneof(value, fc.jsonValue()), { maxKeys: 5 })
    .map((b) => JSON.stringify(b)),
  fc.json(),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  fc.constantFrom(
    '[[[[[[',
    '{"text":"\\ud800"}',
    '{"message":"\\u0000"}',
    '{"transactions":[{"to":"a","value":"0x1","data":"0x00"}],"from":"b","chain_id":"1"}',
    '{"transactions":[null,[],{"to":{},"value":-1,"data":"0x0","label":[],"chain_id":0.5}]}',
    '['.repeat(50_000),
    'x'.repeat(1_100_000),
  ),
);
const method = fc.constantFrom(
  'GET',
  'POST',
  'PATCH',
  'DELETE',
  'PUT',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'QUERY',
);
const path = fc
  .tuple(fc.constantFrom(...patterns), id, fc.constantFrom('', '/', '//', '/x', '.'))
  .map(([pattern, name, end]) => pattern.replace(/:\w+/g, encodeURIComponent(name.toWellFormed())) + end);

describe('anything at all', () => {
  it('is answered with JSON or a stream, never with 500, and the service stays up', async () => {
    const sent = fc.record({
      method,
      path: fc.tuple(path, query).map(([p, q]) => `${p}?${q}`),
      headers,
      body,
    });
    await fc.assert(
      fc.asyncProperty(sent, async (asked) => {
        const { status, type, text } = await send(asked);
        expect(status).toBeGreaterThanOrEqual(200);
        expect(status).toBeLessThan(500);
        const isBare =
          asked.method === 'HEAD' || status === 204 || status === 304 || type === 'text/event-stream';
        if (isBare) expect(text).toBe('');
        else if (type.startsWith('text/plain')) expect(text).toBe('OK');
        else {
          expect(type).toBe('application/json; charset=utf-8');
          const json: unknown = JSON.parse(text);
          if (status >= 400) expect(json).toHaveProperty('error');
        }
      }),
      { numRuns: 1500 },
    );
    const { status, json } = await server.ask('GET', '/api/health');
    expect([status, json]).toEqual([200, expect.objectContaining({ status: 'ok' })]);
    expect(server.log.lines.filter((line) => line.startsWith('request failed'))).toEqual([]);
  }, 60_000);
});
