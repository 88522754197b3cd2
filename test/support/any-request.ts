import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import fc from 'fast-check';
import { createStreams } from '../../src/http/sse/streams.js';
import { listMounts } from '../../src/surfaces/index.js';
import { fakeCore } from './fake-core.js';

/** A request as a stranger may send it. */
export interface AnyRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | Buffer;
}

/** What came back. The text of a stream is empty: it was left after its headers. */
export interface AnyResponse {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

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

/** The start of an absolute target (RFC 9112 §3.2.2), often one that is not a valid URL, or nothing. */
const origin = fc.oneof(
  { weight: 9, arbitrary: fc.constant('') },
  fc.constantFrom(
    ...[
      'http://localhost',
      'HTTP://127.0.0.1:1',
      'http://u:p@localhost',
      'http://a:b',
      'http://[::1',
      'http://a[b',
    ],
    ...['http://%zz@a', '//%zz@a', 'http://%', 'a://b', 'a:', '*', 'http://'],
  ),
);
const fragment = fc.oneof({ weight: 9, arbitrary: fc.constant('') }, fc.constantFrom('#', '#%zz', '#?a=b'));

/** Anything that Node can put on the wire, mostly near to what the surfaces know. */
export const anyRequest: fc.Arbitrary<AnyRequest> = fc.record({
  method,
  path: fc.tuple(origin, path, fragment, query).map(([o, p, f, q]) => `${o}${p}${f}?${q}`),
  headers,
  body,
});

/** Says what is wrong with a response: every one is JSON, a stream or bare, and none is a 5xx. Undefined: nothing. */
export function faultOf(
  { method: name }: AnyRequest,
  { status, type, text }: AnyResponse,
): string | undefined {
  if (status < 200 || status >= 500) return `the status ${String(status)}: ${text.slice(0, 300)}`;
  if (name === 'HEAD' || status === 204 || status === 304 || type === 'text/event-stream')
    return text === '' ? undefined : `a body where there is none: ${text.slice(0, 300)}`;
  if (type.startsWith('text/plain')) return text === 'OK' ? undefined : `the text ${text.slice(0, 300)}`;
  if (type !== 'application/json; charset=utf-8') return `the type ${type}`;
  const json = parsed(text);
  if (json === undefined) return `no JSON: ${text.slice(0, 300)}`;
  return status < 400 || hasError(json) ? undefined : `no error in ${text.slice(0, 300)}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function hasError(json: unknown): boolean {
  return typeof json === 'object' && json !== null && 'error' in json;
}

/** Sends a request on a connection of its own. A stream is left after its headers. */
export function sendAny(base: string, { method, path, headers, body }: AnyRequest): Promise<AnyResponse> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(base);
    const sent = request(
      {
        hostname,
        port,
        path,
        method,
        headers: { ...headers, Connection: 'close', 'Content-Length': Buffer.byteLength(body) },
      },
      (response) => {
        const status = response.statusCode ?? 0;
        const type = response.headers['content-type'] ?? '';
        if (type === 'text/event-stream') {
          resolve({ status, type, text: '' });
          response.on('error', () => undefined).destroy();
          return;
        }
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => {
          resolve({ status, type, text });
        });
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
