import { execFile } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CLI, MAIN, Place } from './cli/running.js';
import { freePort, ROOT, ServerProcess } from './support/server-process.js';

// Each test starts processes; a lost lease alone takes 6 seconds.
jest.setTimeout(60_000);

const asModule = (source: string): string => `data:text/javascript,${encodeURIComponent(source)}`;
/** A module for `--import`: in place of dist/app.js, it loads a module that reports it and never ends loading. */
const LOADS_NO_APP = asModule(`
import { register } from 'node:module';
register(${JSON.stringify(
  asModule(`
export async function load(url, context, nextLoad) {
  if (!url.endsWith('/dist/app.js')) return nextLoad(url, context);
  const source = \`
    export const createApp = undefined;
    process.stderr.write('loading the app');
    setInterval(() => undefined, 60_000);
    await new Promise(() => undefined);
  \`;
  return { format: 'module', shortCircuit: true, source };
}`),
)});`);

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.clear());

describe('the service', () => {
  const onLinux = process.platform === 'linux' ? it : it.skip;

  it('logs its real port, keeps the log pure JSON, and shows a banner beside it', async () => {
    const { running, url } = await place.serve();
    await running.says('Try the legacy surface');
    expect(new URL(url).port).not.toBe('0');
    const health = await fetch(`${url}/api/health`);
    expect(health.status).toBe(200);
    expect(await health.json()).toMatchObject({ status: 'ok' });
    const banner = running.err();
    expect(banner).toContain(`listens on ${url}`);
    expect(banner).toContain('Surfaces  current, legacy');
    expect(banner).toContain(`Page      ${url}/`);
    expect(await (await fetch(`${url}/`)).text()).toContain('<div id="root">');
    running.child.kill('SIGTERM');
    expect(await running.ended).toBe(0);
    for (const line of running.out().trim().split('\n')) {
      expect(JSON.parse(line)).toMatchObject({ level: 'info', msg: expect.any(String) });
    }
  });

  it('has no page when PAGE is off', async () => {
    const { running, url } = await place.serve({ PAGE: 'off' });
    await running.says('Try the legacy surface');
    expect(running.err()).not.toContain('Page ');
    const answer = await fetch(`${url}/`);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ code: 'not_found' });
  });

  it('prints commands that work when copied', async () => {
    const { running } = await place.serve();
    await running.says(/thread\/chat'\n/);
    const banner = running.err();
    // No session id that somebody else could have copied, and no message in a URL.
    expect(banner).not.toMatch(/[\da-f]{8}-[\da-f]{4}/);
    expect(banner).not.toContain('?');
    const commands = banner.split('\n').filter((line) => /^ {2}(S=|curl )/.test(line));
    expect(commands).toHaveLength(3);
    const { stdout } = await promisify(execFile)('bash', ['-c', commands.join('\n')]);
    expect(stdout).toMatch(/"is_processing":false/);
    expect(stdout).toMatch(/data: \{"type":"complete"\}/);
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'drains on %s: a running turn may finish, then it exits with 0',
    async (signal) => {
      const { running, url } = await place.serve({ DEMO_TOKEN_MS: '5', DRAIN_TIMEOUT: '2147483' });
      const sessionId = '6f1ff4a2-1f0a-4a53-9a3c-0a1f5f9a0001';
      const answer = await fetch(`${url}/api/chat?message=count%20from%201%20to%2020`, {
        method: 'POST',
        headers: { 'X-Session-Id': sessionId },
      });
      expect(answer.status).toBe(200);
      running.child.kill(signal);
      expect(await running.ended).toBe(0);
      expect(running.out()).toContain('"msg":"stopped"');
      const shown = await place.run(['sessions', 'show', sessionId, '--json']);
      expect(JSON.parse(shown.out)).toMatchObject({
        messages: [{ role: 'user' }, { role: 'assistant', content: expect.stringMatching(/\b20\b/) }],
      });
    },
  );

  onLinux('runs and drains while nothing can be written to its log', async () => {
    const server = ServerProcess.start({
      app: ROOT,
      cwd: place.directory,
      port: await freePort(),
      env: { DATABASE_URL: `sqlite:${place.database}` },
      // Each write to it fails with ENOSPC.
      log: '/dev/full',
    });
    expect(await server.healthy()).toBe(true);
    expect((await fetch(`${server.url}/api/sessions`)).status).toBe(400);
    server.signal('SIGTERM');
    expect(await server.ended).toBe(0);
  });

  it.each([
    ['npm start', MAIN, []],
    ['diptych serve', CLI, ['serve']],
  ] as const)(
    'listens for signals while %s loads its modules, as process 1 needs to',
    async (_, script, args) => {
      const running = place.start(script, args, { NODE_OPTIONS: `--import ${LOADS_NO_APP}` });
      await running.says('loading the app');
      running.child.kill('SIGTERM');
      expect(await running.ended).toBe(143);
    },
  );

  it('exits at once on a second signal', async () => {
    const { running, url } = await place.serve({ DEMO_TOKEN_MS: '1000', DRAIN_TIMEOUT: '600' });
    await fetch(`${url}/api/chat?message=count%20from%201%20to%201000`, {
      method: 'POST',
      headers: { 'X-Session-Id': '6f1ff4a2-1f0a-4a53-9a3c-0a1f5f9a0002' },
    });
    running.child.kill('SIGTERM');
    await running.says('"msg":"draining"');
    running.child.kill('SIGINT');
    expect(await running.ended).toBe(130);
  });

  it('removes a temporary database also on a second signal', async () => {
    const { running, url } = await place.serve({
      ...{ DATABASE_URL: 'sqlite::memory:', TMPDIR: place.directory },
      ...{ DEMO_TOKEN_MS: '1000', DRAIN_TIMEOUT: '600' },
    });
    await fetch(`${url}/api/chat?message=count%20from%201%20to%201000`, {
      method: 'POST',
      headers: { 'X-Session-Id': '6f1ff4a2-1f0a-4a53-9a3c-0a1f5f9a0004' },
    });
    expect(readdirSync(place.directory)).toEqual([expect.stringMatching(/^diptych-/)]);
    running.child.kill('SIGTERM');
    await running.says('"msg":"draining"');
    running.child.kill('SIGINT');
    expect(await running.ended).toBe(130);
    expect(readdirSync(place.directory)).toEqual([]);
  });

  it('ignores SIGUSR1, with which Node would open its inspector', async () => {
    const { running, url } = await place.serve();
    running.child.kill('SIGUSR1');
    expect((await fetch(`${url}/api/health`)).status).toBe(200);
    running.child.kill('SIGTERM');
    expect(await running.ended).toBe(0);
    expect(running.err()).not.toMatch(/debugger|inspector/i);
  });

  onLinux('starts on an address with the name of its interface', async () => {
    const { running, url } = await place.serve({ HOST: '::1%lo' });
    await running.says('Try the legacy surface');
    expect(url).toMatch(/^http:\/\/\[::1%25lo\]:[1-9]\d*$/);
    const { stdout } = await promisify(execFile)('curl', ['-s', '--noproxy', '*', '-g', `${url}/api/health`]);
    expect(stdout).toContain('"status":"ok"');
    running.child.kill('SIGTERM');
    expect(await running.ended).toBe(0);
  });

  it('names HOST when it is a link-local address without its interface, and exits with 1', async () => {
    const running = place.start(MAIN, [], { HOST: 'fe80::1' });
    expect(await running.ended).toBe(1);
    expect(running.err()).toContain('Diptych cannot start: HOST ');
  });

  it('names the folder of the database when a file is in its place, and exits with 1', async () => {
    writeFileSync(join(place.directory, 'file'), '');
    const running = place.start(MAIN, [], { DATABASE_URL: 'sqlite:./file/x.db' });
    expect(await running.ended).toBe(1);
    const database = join(place.directory, 'file', 'x.db');
    expect(running.err()).toContain(
      `cannot create the folder of the database ${database}: a file is in its place`,
    );
  });

  onLinux('exits with 1 when the file system takes no folder for the database', async () => {
    const running = place.start(MAIN, [], { DATABASE_URL: 'sqlite:/proc/diptych/absent/x.db' });
    expect(await running.ended).toBe(1);
    expect(running.err()).toContain(
      "cannot create the folder of the database /proc/diptych/absent/x.db: ENOENT: no such file or directory, mkdir '/proc/diptych'",
    );
  });

  it('says that its port is in use, and exits with 1', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const address = taken.address();
    const port = typeof address === 'object' && address !== null ? String(address.port) : '';
    const running = place.start(MAIN, [], { PORT: port });
    expect(await running.ended).toBe(1);
    expect(running.err()).toContain(`port ${port} is in use`);
    expect(JSON.parse(running.out())).toMatchObject({
      ...{ level: 'error', msg: 'failed to start' },
      reason: expect.stringContaining(`port ${port} is in use`),
      err: { code: 'EADDRINUSE' },
    });
    await new Promise((resolve) => taken.close(resolve));
  });

  it.each([
    ['a rejection', "Promise.reject(new Error('no rates')); export const tools = [];"],
    [
      'an exception',
      "setImmediate(() => { throw new Error('no rates'); }); await new Promise(() => undefined)",
    ],
  ])('logs %s that a tool module leaves uncaught while it loads, and exits with 1', async (_, source) => {
    writeFileSync(join(place.directory, 'rates.mjs'), source);
    writeFileSync(join(place.directory, 'diptych.yaml'), 'tools: ./rates.mjs');
    const running = place.start(MAIN, []);
    expect(await running.ended).toBe(1);
    const reason = 'Diptych cannot start: no rates';
    expect(running.err()).toBe(`${reason}\n`);
    expect(JSON.parse(running.out())).toMatchObject({
      ...{ level: 'error', msg: 'failed to start', reason },
      err: { stack: expect.arrayContaining([expect.stringContaining('/rates.mjs:1:')]) },
    });
  });

  it('lists every mistake of a bad configuration, and exits with 2', async () => {
    writeFileSync(join(place.directory, 'diptych.yaml'), 'apps: [{ name: a, rigs: [ghost], color: red }]');
    const running = place.start(MAIN, [], { PORT: 'many', SURFACES: 'old' });
    expect(await running.ended).toBe(2);
    for (const part of [
      '4 mistakes',
      'PORT: ',
      'SURFACES: ',
      'apps[0]: has unknown keys: color',
      '"ghost"',
    ]) {
      expect(running.err()).toContain(part);
    }
    expect(running.out()).toBe('');
  });

  it('refuses arguments, which are the flags of `serve`, and exits with 2', async () => {
    const running = place.start(MAIN, ['--port', '9000']);
    expect(await running.ended).toBe(2);
    expect(running.err()).toContain('pass the flags to `npm run --silent cli -- serve`');
    expect(running.out()).toBe('');
  });

  it('refuses an App that names a tool that there is not', async () => {
    writeFileSync(join(place.directory, 'diptych.yaml'), 'apps: [{ name: a, tools: [get_time, warp] }]');
    const running = place.start(MAIN, []);
    expect(await running.ended).toBe(2);
    expect(running.err()).toMatch(/App a: tools: there is no tool "warp"; there are .*get_time/);
  });

  it('lists the mistakes in settings of tools, as `check` does, and exits with 2', async () => {
    const file = join(place.directory, 'diptych.yaml');
    writeFileSync(
      file,
      `allowHosts: [gateway.internal, 'http://10.0.0.5:8545']
mcp:
  - { name: shop, url: 'ftp://shop.example' }
  - { name: bank, url: 'https://bank.example/mcp', headers: { Authorization: Bearer $SECRET:BANK } }
apps:
  - { name: a, mcp: [bank] }
`,
    );
    const service = place.start(MAIN, []);
    expect(await service.ended).toBe(2);
    const check = await place.run(['check']);
    expect(check.code).toBe(1);
    for (const mistake of [
      'allowHosts[1]: must be a host, or host:port, such as mcp.internal or 127.0.0.1:9000',
      'mcp[0].url: must be an http or https URL without user and password',
      'App a: secrets: a tool server of this App needs a slot named BANK',
    ]) {
      expect(service.err()).toContain(`${file}: ${mistake}`);
      expect(check.out).toContain(`FAIL  configuration: ${file}: ${mistake}`);
    }
  });

  it('is the same by `serve`, whose flags go before the environment', async () => {
    const running = place.start(CLI, ['serve', '--port', '0', '--surfaces', 'legacy'], { PORT: 'wrong' });
    const [, url = ''] = await running.says(/"url":"(http:[^"]+)"/);
    expect((await fetch(`${url}/api/session/models`)).status).toBe(200);
    expect((await fetch(`${url}/api/state`)).status).toBe(404);
    running.child.kill('SIGTERM');
    expect(await running.ended).toBe(0);
    const refused = place.start(CLI, ['serve', '--port', 'x']);
    expect(await refused.ended).toBe(2);
    expect(refused.err()).toContain('--port: must be a whole number');
  });

  it('keeps what was said over a kill -9, in a temporary database nothing', async () => {
    const sessionId = '6f1ff4a2-1f0a-4a53-9a3c-0a1f5f9a0003';
    const say = (url: string, prefer: string): Promise<Response> =>
      fetch(`${url}/api/chat?message=Hello`, {
        method: 'POST',
        headers: { 'X-Session-Id': sessionId, Prefer: prefer },
      });
    const first = await place.serve();
    await say(first.url, 'wait=20');
    first.running.child.kill('SIGKILL');
    await first.running.ended;
    const second = await place.serve();
    const state: unknown = await (
      await fetch(`${second.url}/api/state`, { headers: { 'X-Session-Id': sessionId } })
    ).json();
    expect(state).toMatchObject({ messages: [{ sender: 'user' }, { sender: 'agent' }] });
    const memory = await place.serve({ DATABASE_URL: 'sqlite::memory:' });
    expect((await fetch(`${memory.url}/api/sessions/${sessionId}`)).status).toBe(404);
  });
});
