import { getEventListeners } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';
import { connect } from '../../src/adapters/tools/mcp/connection.js';
import { createScrubber } from '../../src/adapters/tools/mcp/secrets.js';
import { MCP_TIMING } from '../../src/adapters/tools/mcp/settings.js';
import type { JsonObject } from '../../src/core/model/json.js';
import { answering, closeAnswering } from '../support/answering.js';
import { keptLog } from '../support/core.js';
import { objectOf } from '../support/house.js';
import { closeMcp, overHttp, startMcp, type Started } from '../support/mcp.js';

afterEach(async () => {
  await closeMcp();
  await closeAnswering();
});

function nextPage(page: number, pages: number): string | null {
  return page + 1 < pages ? String(page + 1) : null;
}

/** A server whose tool list has these pages, as often as it is asked. */
async function serve(
  pages: readonly (readonly JsonObject[])[],
  cursorAfter: (page: number, pages: number) => string | null = nextPage,
): Promise<string> {
  const port = await answering((res, req) => {
    void text(req).then((body) => {
      if (req.method !== 'POST') return res.writeHead(405).end();
      const { id, method, params } = objectOf(JSON.parse(body));
      if (id === undefined) return res.writeHead(202).end();
      const cursor = Number(objectOf(params ?? {}).cursor ?? 0);
      const serverInfo = { name: 'listing', version: '1' };
      const nextCursor = cursorAfter(cursor, pages.length);
      const result =
        method === 'initialize'
          ? { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo }
          : { tools: pages[cursor] ?? [], ...(nextCursor !== null && { nextCursor }) };
      res.writeHead(200, { 'content-type': 'application/json' });
      return res.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
  });
  return `http://127.0.0.1:${String(port)}/`;
}

function connected(url: string): Started {
  return startMcp([overHttp('s', url)]);
}

/** A tool whose schema has a description of so many characters. */
function tool(name: string, characters: number): JsonObject {
  return { name, inputSchema: { type: 'object', description: 'x'.repeat(characters) } };
}

describe('a tool list', () => {
  it('leaves out a tool whose schema would fill each request to a model', async () => {
    const mcp = connected(await serve([[tool('small', 60_000)], [tool('large', 70_000), tool('last', 0)]]));
    await mcp.until(() => mcp.servers.list().length > 0);
    expect(mcp.servers.list().map(({ name }) => name)).toEqual(['s.small', 's.last']);
    expect(mcp.log.lines.filter((line) => line.includes('larger than 64 KiB'))).toHaveLength(1);
  });

  it('is refused when its pages are too large together', async () => {
    const page = Array.from({ length: 3 }, (_, n) => tool(`t${String(n)}`, 500_000));
    const mcp = connected(await serve([page, page, page]));
    await mcp.until(() => mcp.log.lines.some((line) => line.includes('tool list')));
    expect(mcp.log.lines.join('\n')).toContain('The tool list of the tool server s is too large');
    expect(mcp.servers.list()).toEqual([]);
  });

  it('ends with the cursor that a server repeats', async () => {
    const mcp = connected(await serve([[tool('a', 0)]], () => '0'));
    await mcp.until(() => mcp.servers.list().length > 0);
    expect(mcp.servers.list().map(({ name }) => name)).toEqual(['s.a']);
    expect(mcp.log.lines.filter((line) => line.includes('left out'))).toHaveLength(1);
  });

  it('leaves no listener on the signal of its caller, however many pages it has', async () => {
    const url = await serve(Array.from({ length: 30 }, (_, n) => [tool(`t${String(n)}`, 0)]));
    const { signal } = new AbortController();
    const connection = await connect(
      {
        ...{ server: 's', transport: { kind: 'http', url, headers: {} }, scrub: createScrubber(new Map()) },
        ...{ log: keptLog(), env: {}, timing: MCP_TIMING, version: '0.0.0', onListChanged: () => undefined },
      },
      AbortSignal.timeout(10_000),
    );
    expect(await connection.listTools(signal)).toHaveLength(30);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    await connection.close();
  });
});
