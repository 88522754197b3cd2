import { afterEach, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { openHouse, type House } from '../support/house.js';

let house: House | undefined;
afterEach(() => house?.close());

it('a session with 100 streams gets no more on either surface, and a message that cannot be shown is not taken', async () => {
  house = await openHouse();
  const session = randomUUID();
  const open = house;
  const streams = await Promise.all(Array.from({ length: 100 }, () => open.watch('/api/updates', session)));
  expect(streams.map(({ response }) => response.status)).toEqual(Array(100).fill(200));
  const current = await house.ask('GET', '/api/updates', {
    session,
    headers: { Accept: 'text/event-stream' },
  });
  expect([current.status, current.headers.get('retry-after')]).toEqual([429, '5']);
  expect(current.json).toEqual({
    error: '100 streams of this session are open already: close one, or try again in 5 s',
    code: 'rate_limited',
    request_id: expect.any(String),
  });
  const legacy = await house.ask('POST', '/legacy/api/thread/chat', { session, body: { text: 'hi' } });
  expect([legacy.status, legacy.json]).toEqual([
    429,
    { error: '100 streams of this session are open already: close one, or try again in 5 s' },
  ]);
  expect(await house.store.loadThread(session)).toBe('unknown');
  for (const stream of streams) stream.close();
});
