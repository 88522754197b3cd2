import { spawn, type ChildProcess } from 'node:child_process';
import { createServer, type ServerResponse } from 'node:http';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { startHttpScript, type HttpScript } from '../support/mcp-http.js';
import { closeMcp, overHttp, progressOf, startMcp, type Started } from '../support/mcp.js';

jest.setTimeout(30_000); // Children take a while on a machine that is busy.

const scripts: HttpScript[] = [];
const children: ChildProcess[] = [];

afterEach(async () => {
  await closeMcp();
  await Promise.all(scripts.splice(0).map((script) => script.close()));
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

async function startScript(options: Parameters<typeof startHttpScript>[0] = {}): Promise<HttpScript> {
  const script = await startHttpScript(options);
  scripts.push(script);
  return script;
}

async function connected(url: string, headers: Record<string, string> = {}, timing = {}): Promise<Started> {
  const mcp = startMcp([overHttp('s', url, headers)], timing);
  await mcp.until(() => mcp.servers.list().some(({ name }) => name === 's.echo'));
  return mcp;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

describe('server-everything over streamable HTTP', () => {
  it('lists, calls, reports progress, and comes back after it was killed', async () => {
    const port = await freePort();
    await everything(port);
    const mcp = await connected(`http://127.0.0.1:${String(port)}/mcp`);
    expect(await mcp.call('s.echo', { message: 'hello' })).toBe('Echo: hello');
    expect(await mcp.call('s.get-structured-content', { location: 'Chicago' })).toEqual({
      temperature: 36,
      conditions: 'Light rain / drizzle',
      humidity: 82,
    });
    expect(await mcp.call('s.get-tiny-image')).toMatch(/\[image image\/png, \d+ bytes\]/);
    expect(mcp.tool('s.get-sum').parameters).toMatchObject({ required: ['a', 'b'] });
    expect(mcp.tool('s.get-sum').sideEffects).toBe('none');
    const told = progressOf();
    const long = { duration: 0.2, steps: 2 };
    expect(await mcp.call('s.trigger-long-running-operation', long, { progress: told.progress })).toContain(
      'completed',
    );
    expect(told.all).toEqual(['1 of 2', '2 of 2']);

    for (const child of children.splice(0)) {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await gone;
    }
    await mcp.until(() => mcp.log.lines.some((line) => line.includes('connection ended')));
    await everything(port);
    expect(await mcp.call('s.echo', { message: 'again' })).toBe('Echo: again');
  });

  async function everything(port: number): Promise<void> {
    const script = 'node_modules/@modelcontextprotocol/server-everything/dist/index.js';
    const child = spawn(process.execPath, [script, 'streamableHttp'], {
      env: { ...process.env, PORT: String(port) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    children.push(child);
    await new Promise<void>((resolve, reject) => {
      child.stderr.on('data', (chunk: Buffer) => {
        if (chunk.toString().includes('listening')) resolve();
      });
      child.once('exit', () => {
        reject(new Error('server-everything ended'));
      });
    });
  }
});

describe('a server over HTTP', () => {
  it.each([false, true])(
    'answers by a stream or by JSON (%s), and hears of cancelled calls',
    async (json) => {
      const script = await startScript({ json });
      const mcp = await connected(script.url);
      expect(await mcp.call('s.echo', { text: 'hi' })).toBe('hi');
      const told = progressOf();
      const stop = new AbortController();
      const call = mcp.call('s.hang', { id: 'one' }, { signal: stop.signal, progress: told.progress });
      await script.received('hanging');
      stop.abort();
      await expect(call).rejects.toThrow('did not answer in time');
      await script.received('cancelled');
      expect(await mcp.call('s.cancelled')).toEqual({ ids: ['one'], notices: 1 });
      await mcp.servers.close();
      expect(script.sessions).toBe(0);
    },
  );

  it.each([false, true])('keeps nothing open of a call that was cancelled (JSON: %s)', async (json) => {
    const open = new Set<ServerResponse>();
    let onClosed: () => void = () => undefined;
    const script = await startScript({
      json,
      intercept: (req, res) => {
        if (req.method === 'POST') {
          open.add(res);
          res.once('close', () => {
            open.delete(res);
            onClosed();
          });
        }
        return false;
      },
    });
    const mcp = await connected(script.url);
    const stop = new AbortController();
    const call = mcp.call('s.hang', { id: 'one' }, { signal: stop.signal });
    await script.received('hanging');
    stop.abort();
    await expect(call).rejects.toThrow('did not answer in time');
    while (open.size > 0) await new Promise<void>((resolve) => (onClosed = resolve));
    expect(await mcp.call('s.echo', { text: 'hi' })).toBe('hi');
    expect(script.begun).toBe(1);
  });

  it('that forgets the session gets a new one and the call again', async () => {
    const script = await startScript();
    const mcp = await connected(script.url);
    script.forget();
    expect(await mcp.call('s.echo', { text: 'still' })).toBe('still');
    expect(script.begun).toBe(2);
  });

  it('that goes away in mid-call fails the call soon', async () => {
    const script = await startScript();
    const mcp = await connected(script.url);
    const told = progressOf();
    const call = mcp.call('s.hang', {}, { progress: told.progress });
    await told.at('hanging');
    await script.close();
    await expect(call).rejects.toThrow('went away');
    expect(mcp.servers.states()[0]?.tools).toBeGreaterThan(10);
  });

  it.each(['ends', 'breaks'])('whose stream %s without the response fails the call at once', async (how) => {
    let isCut = false;
    const script = await startScript({
      intercept: (req, res) => {
        if (!isCut || req.method !== 'POST') return false;
        isCut = false;
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        if (how === 'ends') res.end(': nothing\n\n');
        else res.write(': nothing\n\n', () => res.destroy());
        return true;
      },
    });
    const mcp = await connected(script.url);
    isCut = true;
    await expect(mcp.call('s.echo', { text: 'hi' })).rejects.toThrow(
      'The tool server s went away; whether the call took effect is not known.',
    );
    expect(await mcp.call('s.echo', { text: 'hi' })).toBe('hi');
    expect(script.begun).toBe(1);
    expect(mcp.log.lines.join()).not.toContain('connection error');
  });

  it('that accepts a call without a response fails it at once', async () => {
    let isMute = false;
    const script = await startScript({
      intercept: (req, res) => {
        if (!isMute || req.method !== 'POST') return false;
        isMute = false;
        res.writeHead(202).end();
        return true;
      },
    });
    const mcp = await connected(script.url);
    isMute = true;
    await expect(mcp.call('s.echo')).rejects.toThrow('accepted a request without a response');
    expect(await mcp.call('s.echo', { text: 'hi' })).toBe('hi');
  });

  it('lists again when it says so', async () => {
    const script = await startScript();
    const mcp = await connected(script.url);
    await script.streaming;
    await mcp.call('s.grow');
    await mcp.until(() => mcp.servers.list().some(({ name }) => name === 's.grown'));
    expect(await mcp.call('s.grown')).toBe('called grown');
  });

  it.each([false, true])('gets words for a result that is too large (JSON: %s), and stays', async (json) => {
    const script = await startScript({ json });
    const mcp = await connected(script.url);
    await expect(mcp.call('s.huge', { bytes: 5 * 1024 * 1024 })).rejects.toThrow(
      json ? 'sent a message that is too large' : 'The result is larger than 4 MiB',
    );
    expect(await mcp.call('s.echo', { text: 'here' })).toBe('here');
    expect(script.begun).toBe(1);
  });

  it('is not followed to another origin', async () => {
    const other = await startScript();
    for (const status of [307, 308]) {
      const script = await startScript({
        intercept: (_, res) => {
          res.writeHead(status, { location: other.url }).end();
          return true;
        },
      });
      const mcp = startMcp([overHttp('s', script.url, { authorization: 'Bearer operator-token' })]);
      await mcp.servers.tried(AbortSignal.timeout(10_000));
      expect(mcp.servers.states()[0]?.problem).toBe(
        `The tool server s redirects to another address; the redirect was not followed (HTTP ${String(status)}).`,
      );
      await mcp.servers.close();
    }
    expect(other.begun).toBe(0);
    expect(other.seen.size).toBe(0);
  });

  it('may redirect within its origin', async () => {
    const script = await startScript({
      intercept: (req, res) => {
        if (req.url !== '/old') return false;
        res.writeHead(307, { location: '/mcp' }).end();
        return true;
      },
    });
    const mcp = await connected(script.url.replace('/mcp', '/old'));
    expect(await mcp.call('s.echo', { text: 'moved' })).toBe('moved');
  });

  it("that repeats the operator's own token does not get it into words or logs", async () => {
    const script = await startScript();
    const mcp = await connected(script.url, { authorization: 'Bearer operator-token' });
    expect([...script.seen]).toEqual(['Bearer operator-token']);
    await expect(mcp.call('s.fail')).rejects.toThrow('upstream refused "[secret]"');
    await expect(mcp.call('s.reject')).rejects.toThrow(/^bad header: \[secret\]$/);
    expect(mcp.log.lines.join()).not.toContain('operator-token');
  });

  it('that responds with a fault is reported by its number', async () => {
    const script = await startScript({
      intercept: (_, res) => {
        res.writeHead(503).end('http://internal.example token=abc');
        return true;
      },
    });
    const mcp = startMcp([overHttp('s', script.url)]);
    await mcp.servers.tried(AbortSignal.timeout(10_000));
    expect(mcp.servers.states()).toEqual([
      { name: 's', problem: 'The tool server s responded with HTTP 503.', tools: 0 },
    ]);
  });

  it.each([
    [404, 'no such page', 'responded with HTTP 404.'],
    [400, 'Bad Request: no session', 'responded with HTTP 400.'],
    [200, '{"jsonrpc":"2.0",', 'sent an invalid response.'],
    [200, '{"jsonrpc":"2.0","id":0,"result":"hello"}', 'sent an invalid response.'],
    [
      200,
      '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"1999-01-01","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}',
      'has a version of MCP that is not supported.',
    ],
  ])('whose first response is %d %s is logged with the reason', async (status, body, reason) => {
    const script = await startScript({
      intercept: (_, res) => {
        res.writeHead(status, { 'content-type': 'application/json' }).end(body);
        return true;
      },
    });
    const mcp = startMcp([overHttp('s', script.url)]);
    await mcp.servers.tried(AbortSignal.timeout(10_000));
    const problem = `The tool server s ${reason}`;
    expect(mcp.servers.states()).toEqual([{ name: 's', problem, tools: 0 }]);
    const line = mcp.log.lines.find((one) => one.includes('tool server: failed to connect'));
    expect(line).toContain(JSON.stringify({ problem }).slice(1, -1));
  });
});
