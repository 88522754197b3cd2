import { createServer, type IncomingHttpHeaders } from 'node:http';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../src/adapters/platform/uuid/clock.js';
import { createLegacyNotices } from '../../src/composition/legacy-notices.js';
import { readReport } from '../../src/core/operations/usage.js';
import { keptLog } from '../support/core.js';
import { createMemoryStore } from '../support/memory-store/store.js';

const DAY = 86_400_000;

let close: () => Promise<unknown>;
afterEach(() => close());

/** A receiver that responds with these statuses in turn, the last one from then on. */
async function listen(...statuses: readonly number[]) {
  const received: { headers: IncomingHttpHeaders; body: unknown }[] = [];
  const server = createServer((req, res) => {
    let text = '';
    req.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    req.on('end', () => {
      received.push({ headers: req.headers, body: JSON.parse(text) });
      res.statusCode = statuses[received.length - 1] ?? statuses.at(-1) ?? 500;
      res.setHeader('Location', '/elsewhere');
      res.end('thanks');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  close = () => {
    server.closeAllConnections();
    return once(server.close(), 'close');
  };
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { received, url: `http://127.0.0.1:${String(address.port)}/hook?token=secret` };
}

async function createNotices(webhook: string | null, surfaces: readonly ('current' | 'legacy')[]) {
  const store = createMemoryStore();
  const at = systemClock.now() - 40 * DAY;
  const row = { surface: 'current', endpoint: 'GET /a', keyId: null, client: 'a', requests: 1 } as const;
  await store.addUsage([{ ...row, day: at - (at % DAY), firstAt: at, lastAt: at }]);
  const log = keptLog();
  const legacy = { deprecatedAt: null, sunsetAt: null, link: null, webhook, webhookDays: 30 };
  const notices = await createLegacyNotices(
    { legacy, surfaces },
    {
      core: { usageReport: ({ days }) => readReport(store, { days, at: systemClock.now() }) },
      ...{ store, log, clock: systemClock, version: '1.2.3' },
    },
  );
  return { notices, log };
}

describe('LEGACY_WEBHOOK', () => {
  it('receives the report once, after a failure too, and its URL is not logged', async () => {
    const { received, url } = await listen(307, 204);
    const { notices, log } = await createNotices(url, ['current', 'legacy']);
    await notices?.check();
    await notices?.check();
    expect(received).toHaveLength(2);
    expect(received[1]).toMatchObject({
      headers: {
        'content-type': 'application/json',
        'idempotency-key': 'legacy_unused:never',
        'user-agent': 'diptych/1.2.3',
      },
      body: {
        ...{ event: 'legacy_unused', id: 'legacy_unused:never', days: 30, last_used_at: null, users: [] },
        verdict: { kind: 'unused', text: expect.stringContaining('It may go') },
      },
    });
    expect(log.lines).toEqual(['delivered a notice {"notice":"legacy_unused"}']);
    await notices?.close();
  });

  it('is called with the user name and password of its URL', async () => {
    const { received, url } = await listen(204);
    const { notices } = await createNotices(url.replace('//', '//user:p%40ss@'), ['current', 'legacy']);
    await notices?.check();
    expect(received[0]?.headers.authorization).toBe(`Basic ${btoa('user:p@ss')}`);
    await notices?.close();
  });

  it('is not called where the legacy surface is off, or when there is none', async () => {
    close = () => Promise.resolve();
    expect((await createNotices('http://127.0.0.1:9', ['current'])).notices).toBeNull();
    expect((await createNotices(null, ['current', 'legacy'])).notices).toBeNull();
  });
});
