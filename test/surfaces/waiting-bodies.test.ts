import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { Store } from '../../src/core/ports/store.js';
import { countBody } from '../../src/http/response/waiting-bodies.js';
import { end, record, sendAndClaim } from '../contracts/store-fixtures.js';
import { connected, type Connected } from '../support/connected.js';
import { openHouse, type House } from '../support/house.js';
import { openStore } from '../support/http.js';

let store: Store;
let house: House;
let session: string;

beforeEach(async () => {
  store = await openStore('sqlite');
  house = await openHouse({ store });
  session = randomUUID();
  const turn = await sendAndClaim(store, session, { text: 'x'.repeat(70_000) });
  await end(store, turn, { messages: [record(turn, 1)] });
});
afterEach(async () => {
  await house.close();
  await store.close();
});

/** Keeps a response open whose body takes all the memory that long bodies may take. */
async function occupy(): Promise<Connected> {
  const server = createServer((_req, res) => {
    countBody(res, 268_435_456);
    server.emit('counted');
  });
  const reader = await connected(server);
  const counted = once(server, 'counted');
  reader.client.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n');
  await counted;
  return reader;
}

it('long responses are refused while too many wait for clients that do not read, and sent afterwards', async () => {
  const long = ['/api/state', `/api/thread/state?session_id=${session}`, `/api/sessions/${session}/messages`];
  const ask = (path: string) => house.ask('GET', path, { session });
  const unread = await occupy();
  for (const path of long) {
    const refused = await ask(path);
    expect(refused).toMatchObject({ status: 503 });
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(refused.text).toContain('Too many long responses');
    expect(refused.headers.get('etag')).toBe(null);
  }
  expect((await ask('/api/state?tail=1')).status).toBe(200);
  const renamed = await house.ask('PATCH', `/api/sessions/${session}`, { session, body: { title: 'short' } });
  expect(renamed.status).toBe(200);

  await unread.close();
  for (const path of long) expect((await ask(path)).status).toBe(200);
});
