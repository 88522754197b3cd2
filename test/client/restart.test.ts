import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createClient } from '../../src/client/index.js';
import { Place } from '../cli/running.js';
import { Received, said, watching } from './watching.js';

const NUMBERS = Array.from({ length: 150 }, (_, index) => String(index + 1)).join(' ');

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.clear());

describe.each(['current', 'legacy'] as const)('a restart of the service, over the %s surface', (surface) => {
  it.each(['SIGKILL', 'SIGTERM'] as const)(
    'by %s in the middle of an answer loses and doubles nothing',
    async (signal) => {
      // A drain that is over at once hands the turn to the next process.
      const env = { DEMO_TOKEN_MS: '10', DRAIN_TIMEOUT: '0.001' };
      const first = await place.serve(env);
      const { port } = new URL(first.url);
      const client = createClient({ url: first.url, surface });
      const watched = watching(client);
      await watched.until(() => watched.of('connection').length > 0);
      const received = new Received(client.ask('count from 1 to 150'));
      await received.until(() => [...received.texts().values()].join('').includes(' 30'));
      await client.send('remember the number 7777');
      first.running.child.kill(signal);
      await first.running.ended;
      await place.serve({ ...env, PORT: port });
      await received.ended;
      expect([...received.texts().values()]).toEqual([NUMBERS]);
      expect(received.events.at(-1)).toMatchObject({ type: 'turn_ended', status: 'complete' });
      await watched.until(() => watched.of('state').at(-1)?.state.status === 'idle');
      watched.stop();
      await watched.ended;
      const state = await client.state();
      expect(state.messages.filter(({ sender }) => sender === 'user')).toHaveLength(2);
      expect(said(state).startsWith(NUMBERS)).toBe(true);
      expect(said(state)).toContain('7777');
      expect(watched.views().at(-1)).toBe(said(state));
      client.close();
    },
  );
});
