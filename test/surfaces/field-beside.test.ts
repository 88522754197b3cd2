import { afterEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { NO_LIMITS } from '../../src/core/model/quota.js';
import type { SurfaceName } from '../../src/surfaces/index.js';
import { closeTestCores, testApp } from '../support/core.js';
import { objectOf } from '../support/house.js';
import { serveScripted } from '../support/http.js';
import { grantKey } from '../support/keys.js';
import { sendRaw } from '../support/raw.js';
import { listOf, messagesOf } from '../support/snapshot.js';

const ALL = ['current', 'legacy', 'field'] as const;
const SESSION = '5f0c2a51-0b7e-4f6c-9a37-3f2b8c1d4e90';

type Server = Awaited<ReturnType<typeof serveScripted>>;
const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  await closeTestCores();
});

async function serve(options: Parameters<typeof serveScripted>[0]): Promise<Server> {
  const server = await serveScripted({ apps: [testApp(), testApp({ name: 'desk' })], ...options });
  servers.push(server);
  return server;
}

/** The bytes of responses, but for their times and for ids that the service makes. */
async function bytesOf(surfaces: readonly SurfaceName[]): Promise<readonly string[]> {
  const server = await serve({ surfaces });
  const shown: string[] = [];
  const send = async (line: string, headers: readonly string[] = [], body = ''): Promise<void> => {
    const head = [
      `${line} HTTP/1.1`,
      ...['Host: a', 'Connection: close', 'X-Request-Id: same', `X-Session-Id: ${SESSION}`],
      ...[...headers, `Content-Length: ${String(Buffer.byteLength(body))}`],
    ];
    const response = await sendRaw(server.url, `${head.join('\r\n')}\r\n\r\n${body}`);
    const steady = response
      .replace(/Date: [^\r]+/g, 'Date: D')
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'T')
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => (id === SESSION ? id : 'U'));
    shown.push(`${line}\n${steady}`);
  };
  for (const base of ['', '/current']) {
    await send(`POST ${base}/api/sessions?public_key=w`);
    await send(`GET ${base}/api/sessions?public_key=w`);
    await send(`GET ${base}/api/sessions/${SESSION}`);
    await send(`PATCH ${base}/api/sessions/${SESSION}`, [], '{"title":"One"}');
    await send(`POST ${base}/api/chat`, [], '{"message":"hi","app":"desk"}');
    await send(`POST ${base}/api/chat?message=hi&namespace=desk&user_state=no`);
    await send(`GET ${base}/api/state`);
    await send(`GET ${base}/api/state?tail=0`, ['If-None-Match: *']);
    await send(`POST ${base}/api/interrupt`);
    await send(`GET ${base}/api/events`);
    await send(`GET ${base}/api/control/apps`);
    await send(`GET ${base}/api/control/models?app=desk`, ['X-API-Key: x']);
    await send(`POST ${base}/api/control/model?rig=scripted`);
    await send(`POST ${base}/api/control/model?model=scripted&session_id=${SESSION}`, [], '{"model":"no"}');
    await send(`POST ${base}/api/control/other`);
    await send(`GET ${base}/api/secrets`);
    await send(
      `POST ${base}/api/secrets`,
      [],
      '{"client_id":"a-client-of-some-length","secrets":{"a:b":"v"}}',
    );
    await send(`GET ${base}/api/account`);
    await send(`GET ${base}/api/updates`, ['Accept: text/html']);
    await send(`OPTIONS ${base}/api/state`, [
      'Origin: https://a.example',
      'Access-Control-Request-Method: GET',
    ]);
    await send(`OPTIONS ${base}/api/none`, [
      'Origin: https://a.example',
      'Access-Control-Request-Method: GET',
    ]);
    await send(`GET ${base}/api/none`);
    await send(`DELETE ${base}/api/state`);
  }
  for (const base of ['', '/legacy']) {
    await send(`POST ${base}/api/sessions`);
    await send(`GET ${base}/api/sessions/${SESSION}`, ['X-API-Key: x']);
    await send(`GET ${base}/api/thread/state?session_id=${SESSION}`);
    await send(`POST ${base}/api/thread/chat`, [], '{"text":" "}');
    await send(`POST ${base}/api/thread/chat?app=desk`, ['SERVICE-APP-KEY: x'], '{"text":"hi"}');
    await send(`GET ${base}/api/session/apps`);
    await send(`GET ${base}/api/session/models`);
  }
  await send('GET /openapi/current.json');
  await send('GET /openapi/legacy.json');
  return shown;
}

describe('the strict surfaces', () => {
  it('keep every byte when the field surface is exposed beside them', async () => {
    const alone = await bytesOf(['current', 'legacy']);
    const beside = await bytesOf(ALL);
    expect(beside).toEqual(alone);
    const statuses = new Set(alone.map((text) => /HTTP\/1\.1 (\d+)/.exec(text)?.[1]));
    expect([...statuses].sort()).toEqual(['200', '204', '304', '400', '401', '404', '405']);
  });

  it('are what is at the root without ROOT_SURFACE, whatever is exposed with them', async () => {
    const server = await serve({ surfaces: ['current', 'field'] });
    expect((await server.ask('GET', '/api/state')).status).toBe(400);
    expect((await server.ask('GET', '/api/state', { session: 'default-session' })).status).toBe(400);
    expect((await server.ask('GET', '/field/api/state', { session: 'default-session' })).status).toBe(200);
  });
});

describe('the field surface alone', () => {
  it('is at the root as well', async () => {
    const server = await serve({ surfaces: ['field'] });
    for (const base of ['', '/field'])
      expect((await server.ask('GET', `${base}/api/state`, { session: 'default-session' })).status).toBe(200);
    expect((await server.ask('GET', '/current/api/state', { session: SESSION })).status).toBe(404);
  });
});

describe('ROOT_SURFACE=field', () => {
  it('answers at /api with the field surface, and leaves the others their own bases', async () => {
    const server = await serve({ surfaces: ALL, root: 'field' });
    const session = 'default-session';
    expect((await server.ask('GET', '/api/state', { session })).status).toBe(200);
    expect((await server.ask('GET', '/api/account')).status).toBe(401);
    expect((await server.ask('GET', '/api/none')).json).toMatchObject({ code: 'not_found' });
    for (const path of ['/api/thread/state?session_id=x', '/api/control/other', '/api/session/apps'])
      expect([path, (await server.ask('GET', path)).status]).toEqual([path, 404]);
    expect((await server.ask('GET', '/current/api/state', { session })).status).toBe(400);
    expect((await server.ask('GET', '/legacy/api/session/models')).status).toBe(200);
    expect((await server.ask('GET', '/health')).text).toBe('OK');
    expect((await server.ask('GET', '/api/health')).json).toMatchObject({ surfaces: ALL });
    const bases = async (name: string) => {
      const document = objectOf((await server.ask('GET', `/openapi/${name}.json`)).json);
      return listOf(document.servers).map((one) => objectOf(one).url);
    };
    expect(await bases('field')).toEqual(['/field', '/']);
    expect(await bases('current')).toEqual(['/current']);
  });

  it('shows one turn on all surfaces', async () => {
    const server = await serve({ surfaces: ALL, root: 'field' });
    const sent = server.ask('POST', '/api/chat', { session: SESSION, body: { message: 'hi' } });
    (await server.rig.next()).text('hello').end();
    await sent;
    const { json } = await server.ask('POST', '/current/api/interrupt', { session: SESSION });
    expect(messagesOf(json)[0]).toMatchObject({ content: 'hi' });
  });

  it('must name an exposed surface', async () => {
    await expect(serveScripted({ surfaces: ['current'], root: 'field' })).rejects.toThrow('must be exposed');
  });
});

describe('a preflight to the field surface', () => {
  it('allows the headers that its clients send, with and without a route', async () => {
    const server = await serve({ surfaces: ALL, field: { keyHeaders: ['X-Acme-Key', 'authorization'] } });
    const allowed = async (path: string) => {
      const headers = { Origin: 'https://a.example', 'Access-Control-Request-Method': 'POST' };
      const answer = await server.ask('OPTIONS', path, { headers });
      expect(answer.status).toBe(204);
      return (answer.headers.get('access-control-allow-headers') ?? '').split(',');
    };
    const own = ['Authorization', 'X-Thread-Id', 'Cache-Control', 'X-Acme-Key'];
    const known = ['X-Session-Id', 'SERVICE-APP-KEY', 'X-API-Key', 'Content-Type', 'Last-Event-ID'];
    for (const path of ['/field/api/chat', '/field/api/none']) {
      const names = await allowed(path);
      expect(names).toEqual(expect.arrayContaining([...own, ...known]));
      expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
    }
    for (const name of own) expect(await allowed('/current/api/chat')).not.toContain(name);
  });
});

describe('APP_KEY_HEADERS', () => {
  it('are read on the field surface alone, after the usual ones', async () => {
    const server = await serve({ surfaces: ALL, field: { keyHeaders: ['X-Acme-Key', 'Authorization'] } });
    const key = await grantKey(server.store, ['desk']);
    const status = async (base: string, headers: Record<string, string>) =>
      (await server.ask('GET', `${base}/api/control/models?app=desk`, { session: SESSION, headers })).status;
    for (const headers of [
      { 'X-Acme-Key': key },
      { Authorization: `Bearer ${key}` },
      { authorization: key },
    ]) {
      expect(await status('/field', headers)).toBe(200);
      for (const base of ['', '/current']) expect(await status(base, headers)).toBe(401);
    }
    expect(await status('/field', { 'X-Acme-Key': key, 'X-API-Key': 'sk-app-other' })).toBe(401);
    expect(await status('/field', { 'X-Acme-Key': ' ', Authorization: `Bearer ${key}` })).toBe(200);
  });

  it('count against the limits of their key', async () => {
    const server = await serve({
      surfaces: ALL,
      field: { keyHeaders: ['X-Acme-Key'] },
      settings: { limits: { session: NO_LIMITS, key: { ...NO_LIMITS, requestsPerMinute: 1 } } },
    });
    const key = await grantKey(server.store, ['desk']);
    const ask = async () =>
      (await server.ask('GET', '/field/api/tools', { headers: { 'X-Acme-Key': key } })).status;
    expect([await ask(), await ask()]).toEqual([200, 429]);
  });
});

describe('requests of the field surface', () => {
  it('count against the limits of the session that their id names', async () => {
    const limits = { session: { ...NO_LIMITS, requestsPerMinute: 1 }, key: NO_LIMITS };
    const server = await serve({ surfaces: ALL, settings: { limits } });
    const ask = async (session: string, client: string) =>
      (await server.ask('GET', `/field/api/state?client_id=${client}`, { session })).status;
    expect([await ask('a', 'x'), await ask('a', 'x'), await ask('a', 'y'), await ask('b', 'x')]).toEqual([
      200, 429, 200, 200,
    ]);
    expect([await ask(SESSION, 'x'), await ask(SESSION, 'y')]).toEqual([200, 429]);
  });

  it('are counted for it, and leave the report on the legacy surface as it is', async () => {
    const server = await serve({ surfaces: ALL, root: 'field' });
    const key = await grantKey(server.store, ['desk']);
    const headers = { 'User-Agent': 'Bot/1', 'X-API-Key': key };
    await server.ask('GET', '/api/state', { session: randomUUID(), headers });
    await server.ask('GET', '/field/api/state', { session: randomUUID(), headers });
    const report = await server.core.usageReport({ days: 1 });
    expect(report.users).toEqual([]);
    expect(report.history.at(-1)).toMatchObject({ current: 0, legacy: 0 });
    const { rows } = await server.store.readUsage(0);
    expect(rows).toMatchObject([
      { surface: 'field', endpoint: 'GET /api/state', client: 'Bot', requests: 2 },
    ]);
    expect(rows[0]?.keyId).not.toBeNull();
  });
});
