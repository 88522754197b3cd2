import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import { closeTestCores, testApp } from '../support/core.js';
import { serveScripted } from '../support/http.js';
import { grantKey } from '../support/keys.js';

let server: Awaited<ReturnType<typeof serveScripted>>;
afterEach(async () => {
  await server.close();
  await closeTestCores();
});

async function counted(): Promise<string[]> {
  await server.core.usageReport({ days: 1 });
  const { rows } = await server.store.readUsage(0);
  return rows.map(({ surface, endpoint, keyId, client, requests }) =>
    [surface, endpoint, keyId === null ? '-' : 'key', client, requests].join(' '),
  );
}

describe('counting requests over HTTP', () => {
  it('counts by the surface that a request is read by, on any base, and no id, probe or unknown path', async () => {
    server = await serveScripted({ apps: [testApp()] });
    const session = randomUUID();
    const headers = { 'User-Agent': 'WalletApp/2.1 (iOS; 17)' };
    const ask = (method: string, path: string, more: object = {}) =>
      server.ask(method, path, { session, headers, ...more });
    await ask('POST', '/api/sessions');
    await ask('GET', `/api/sessions/${session}`, { headers: { ...headers, 'X-API-Key': 'x' } });
    await ask('GET', `/legacy/api/sessions/${session}`);
    await ask('GET', '/legacy/api/thread/state');
    await ask('GET', `/api/thread/state?session_id=${session}`);
    await ask('HEAD', '/current/api/state');
    await ask('GET', '/api/state');
    await ask('POST', `/api/control/model?session_id=${session}`, { body: { model: 'no' } });
    await ask('POST', '/api/control/model?rig=no');
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
