import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { endingStreams } from '../../src/adapters/tools/mcp/lost-responses.js';
import { startHttpScript, type HttpScript } from '../support/mcp-http.js';
import { closeMcp, overHttp, startMcp } from '../support/mcp.js';

jest.setTimeout(30_000); // A call would wait for its timeout.

const URL_OF_SERVER = 'http://127.0.0.1/mcp';
const STREAM = { 'content-type': 'text/event-stream' };

const scripts: HttpScript[] = [];

afterEach(async () => {
  await closeMcp();
  await Promise.all(scripts.splice(0).map((script) => script.close()));
});

describe('a stream that can be resumed', () => {
  const call = { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 5, method: 'tools/call' }) };
  const resume = { method: 'GET', headers: { 'last-event-id': 'a' } };

  it.each(['id: a\ndata:\n\n', 'id: a\r\ndata: {}\r\n\r\nid: '])(
    'is requested again while its request waits, and not afterwards: %j',
    async (text) => {
      const waiting = new Set([5]);
      const seen: unknown[] = [];
      const fetch = endingStreams((_, init) => {
        seen.push(init?.method);
        return Promise.resolve(new Response(text, { headers: STREAM }));
      }, waiting);
      await (await fetch(URL_OF_SERVER, call)).text();
      const again = await fetch(URL_OF_SERVER, resume);
      expect(again.status).toBe(200);
      await again.text();
      waiting.clear();
      expect((await fetch(URL_OF_SERVER, resume)).status).toBe(405);
      expect(seen).toEqual(['POST', 'GET']);
    },
  );

  it('is requested again where it is not the stream of a request', async () => {
    const fetch = endingStreams(() => Promise.resolve(new Response('', { headers: STREAM })), new Set());
    const response = await fetch(URL_OF_SERVER, resume);
    expect([response.status, await response.text()]).toEqual([200, '']);
  });

  it('is resumed at the same event after a stream without events', async () => {
    const resumedAt: unknown[] = [];
    let call: { id: number } | undefined;
    const intercept = (req: IncomingMessage, res: ServerResponse): boolean => {
      if (!isReady) return false;
      if (req.method === 'POST' && call === undefined) {
        void readJson(req).then((message) => {
          call = message;
          res.writeHead(200, STREAM).end('retry: 1\nid: a\ndata:\n\n');
        });
        return true;
      }
      if (req.method !== 'GET' || call === undefined) return false;
      resumedAt.push(req.headers['last-event-id']);
      const result = { content: [{ type: 'text', text: 'at last' }] };
      const response = JSON.stringify({ jsonrpc: '2.0', id: call.id, result });
      res.writeHead(200, STREAM).end(resumedAt.length < 3 ? '' : `id: b\ndata: ${response}\n\n`);
      return true;
    };
    let isReady = false;
    const script = await startHttpScript({ intercept });
    scripts.push(script);
    const mcp = startMcp([overHttp('s', script.url)], {});
    await mcp.until(() => mcp.servers.list().some(({ name }) => name === 's.echo'));
    isReady = true;
    expect(await mcp.call('s.echo', { text: 'hi' })).toBe('at last');
    expect(resumedAt).toEqual(['a', 'a', 'a']);
  });
});

async function readJson(req: IncomingMessage): Promise<{ id: number }> {
  let text = '';
  for await (const chunk of req) text += String(chunk);
  return JSON.parse(text) as { id: number };
}
