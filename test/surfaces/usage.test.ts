import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { Core } from '../../src/core/api.js';
import { RefusedError } from '../../src/core/model/refusal.js';
import { SilentFeed } from '../../src/surfaces/field/silent-feed.js';
import { closeTestCores, keptLog, testApp } from '../support/core.js';
import { fakeCore } from '../support/fake-core.js';
import { Gate } from '../support/gate.js';
import { serveCore, serveScripted } from '../support/http.js';
import { grantKey } from '../support/keys.js';
import { connectTo } from '../support/raw.js';

let server: Awaited<ReturnType<typeof serveScripted>>;

async function counted(): Promise<string[]> {
  await server.core.usageReport({ days: 1 });
  const { rows } = await server.store.readUsage(0);
  return rows.map(({ surface, endpoint, keyId, client, requests }) =>
    [surface, endpoint, keyId === null ? '-' : 'key', client, requests].join(' '),
  );
}

describe('counting requests over HTTP', () => {
  afterEach(async () => {
    await server.close();
    await closeTestCores();
  });

  it('counts by the surface that a request is read by, on any base, and no id, probe or unknown path', async () => {
    server = await serveScripted({ apps: [testApp()] });
    const session = randomUUID();
    const headers = { 'User-Agent': 'WalletApp/2.1 (iOS; 17)' };
    const ask = (method: string, path: string, more: object = {}) =>
      server.ask(method, path, { session, headers, ...more });
    await ask('POST', '/api/sessions');
    await ask('GET', `/api/sessions/${session}`, { headers: { ...headers, 'X-API-Key': 'x' } });
    await ask('GET', `/legacy/api/sessions/${session}`);
    await ask('GET', `/api/thread/state?session_id=${session}`);
    await ask('GET', `/legacy/api/thread/state?session_id=${session}`);
    await ask('HEAD', '/current/api/state');
    await ask('GET', '/api/state');
    await ask('POST', `/api/control/model?session_id=${session}`, { body: { model: 'scripted' } });
    await ask('POST', '/api/control/model?rig=scripted');
    for (const path of ['/health', '/api/health', '/current/api/health', '/api/no', '/legacy/api/no'])
      await ask('GET', path);
    await ask('OPTIONS', '/api/thread/chat');
    await ask('DELETE', '/api/thread/chat');
    expect(await counted()).toEqual([
      'current GET /api/state - WalletApp 2',
      'current POST /api/control/model - WalletApp 1',
      'current POST /api/sessions - WalletApp 1',
      'legacy GET /api/sessions/:id - WalletApp 2',
      'legacy GET /api/thread/state - WalletApp 2',
      'legacy POST /api/control/model - WalletApp 1',
    ]);
    const { users } = await server.core.usageReport({ days: 1 });
    expect(users).toMatchObject([{ client: 'WalletApp', key: null, requests: 5 }]);
  });

  it('counts a response without a body because nothing has changed', async () => {
    server = await serveScripted();
    const session = randomUUID();
    const { headers } = await server.ask('GET', '/api/state', { session });
    const etag = headers.get('etag') ?? '';
    const again = await server.ask('GET', '/api/state', { session, headers: { 'If-None-Match': etag } });
    expect(again.status).toBe(304);
    expect(await counted()).toEqual(['current GET /api/state - node 2']);
  });

  it('counts an event stream when it begins', async () => {
    server = await serveScripted();
    const client = connectTo(server.url);
    client.write(
      `GET /legacy/api/thread/updates HTTP/1.1\r\nHost: x\r\nUser-Agent: Old/1\r\nX-Session-Id: ${randomUUID()}\r\n\r\n`,
    );
    await once(client, 'data');
    expect(await counted()).toEqual(['legacy GET /api/thread/updates - Old 1']);
    client.destroy();
  });

  it('counts no refused request, and writes nothing to the store for it', async () => {
    server = await serveScripted({ apps: [testApp(), testApp({ name: 'desk' })] });
    const [session, unknown] = [randomUUID(), randomUUID()];
    const addUsage = jest.spyOn(server.store, 'addUsage');
    const status = async (method: string, path: string, more: object = {}) =>
      (await server.ask(method, path, { session, ...more })).status;
    expect([
      await status('GET', '/legacy/api/thread/state'),
      await status('GET', `/legacy/api/thread/state?session_id=${unknown}`),
      await status('POST', '/legacy/api/thread/chat', { body: 'not JSON' }),
      await status('POST', '/legacy/api/thread/chat?app=desk', { body: { text: 'Hi' } }),
      await status('POST', '/legacy/api/thread/chat?app=none', {
        body: { text: 'Hi' },
        headers: { 'X-API-Key': await grantKey(server.store, ['desk']) },
      }),
      await status('POST', '/api/control/model?rig=none'),
      await status('POST', `/api/control/model?session_id=${unknown}`, { body: { model: 'none' } }),
      await status('GET', `/current/api/sessions/${unknown}`),
      await status('PATCH', `/current/api/sessions/${session}`, { body: { title: 'x'.repeat(1_100_000) } }),
      await status('GET', '/legacy/api/session/apps'),
    ]).toEqual([400, 404, 400, 401, 403, 400, 404, 404, 413, 401]);
    expect(await counted()).toEqual([]);
    expect(addUsage).not.toHaveBeenCalled();
    expect((await server.core.usageReport({ days: 1 })).verdict.text).toContain(
      'no request has been counted',
    );
  });

  it('names the App key by the header of the surface, and no key that is not one', async () => {
    server = await serveScripted({ apps: [testApp(), testApp({ name: 'desk' })] });
    const key = await grantKey(server.store, ['desk']);
    const ask = (path: string, headers: Record<string, string>) =>
      server.ask('GET', path, { session: randomUUID(), headers: { 'User-Agent': 'A', ...headers } });
    await ask('/api/session/models', { 'X-API-Key': key });
    await ask('/api/session/models', { 'SERVICE-APP-KEY': key });
    await ask('/api/control/models', { 'SERVICE-APP-KEY': key });
    await ask('/api/control/models', { 'SERVICE-APP-KEY': `sk-app-${'0'.repeat(43)}` });
    expect(await counted()).toEqual([
      'current GET /api/control/models - A 1',
      'current GET /api/control/models key A 1',
      'legacy GET /api/session/models - A 1',
      'legacy GET /api/session/models key A 1',
    ]);
    const { users } = await server.core.usageReport({ days: 1 });
    expect(users.map((user) => user.key?.label)).toEqual(expect.arrayContaining(['test', undefined]));
  });
});

describe('counting a request whose client has disconnected', () => {
  /** Sends a request, disconnects, lets the core act then, and returns how often the request was counted. */
  async function countAfter(path: string, act: () => ReturnType<Core['updates']>): Promise<number> {
    const gate = new Gate();
    const reached = new Gate();
    const count = jest.fn();
    const updates = async () => {
      reached.open();
      await gate.passed;
      return act();
    };
    const core = fakeCore({
      updates,
      usageCounter: () => count,
      health: () => Promise.resolve({ status: 'ok' as const }),
    });
    const alone = await serveCore(core, { log: keptLog() });
    try {
      const client = connectTo(alone.url);
      client.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-Session-Id: ${randomUUID()}\r\n\r\n`);
      const [connection] = (await once(alone.http.server, 'connection')) as [Socket];
      await reached.passed;
      const closed = once(connection, 'close');
      client.destroy();
      await closed;
      gate.open();
      // What follows the gate comes before the response to another request.
      await alone.ask('GET', '/api/health');
      return count.mock.calls.length;
    } finally {
      await alone.close();
    }
  }

  it.each(['/api/updates', '/api/thread/updates'])('counts it if it was served: %s', async (path) => {
    expect(await countAfter(path, () => Promise.resolve(new SilentFeed()))).toBe(1);
  });

  it('does not count it if it was refused', async () => {
    const refuse = () => Promise.reject(new RefusedError('not_found', 'there is no such thread'));
    expect(await countAfter('/api/updates', refuse)).toBe(0);
  });
});
