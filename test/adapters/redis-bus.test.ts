import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { openRedisBus } from '../../src/adapters/bus/redis/bus.js';
import { MAX_SIGNAL } from '../../src/adapters/bus/redis/outbox.js';
import type { Signal } from '../../src/core/model/event.js';
import { busContract } from '../contracts/bus.js';
import { collectLines } from '../support/lines.js';
import { describeWithRedis, listen, REDIS_URL, withNodes, withRedis } from '../support/redis.js';

const changed = (revision: number): Signal => ({ type: 'session_changed', revision });
const isChange = (revision: number) => (signal: Signal) =>
  signal.type === 'session_changed' && signal.revision === revision;
const MISSED: Signal = { type: 'missed' };

function text(content: string, offset: number): Signal {
  return { type: 'text', turnId: 't', attempt: 1, position: 1, offset, before: 0, content };
}

describeWithRedis('the Redis bus', () => {
  busContract('one node', async () => {
    const { log } = collectLines();
    const bus = await openRedisBus({ url: REDIS_URL, prefix: `test:${randomUUID()}`, log });
    return { bus, close: () => bus.close() };
  });

  it('delivers here before publish returns, and elsewhere in the same order, once', () =>
    withNodes(2, async ([a, b]) => {
      if (a === undefined || b === undefined) throw new Error('there are no nodes');
      const id = randomUUID();
      const [here, there] = [await listen(a.bus, id), await listen(b.bus, id)];
      const signals: Signal[] = [
        { type: 'turn_started', turnId: 't', attempt: 1 },
        text('é🎭\u0000\ud800', 0),
        ...Array.from({ length: 3_000 }, (_, n) => text(String(n), 10 * n)),
        {
          type: 'tool_called',
          turnId: 't',
          attempt: 1,
          call: { callId: 'c', name: 'add', args: { b: 1, a: [null] } },
          position: 1,
          length: 7,
          count: 1,
        },
        {
          type: 'tool_returned',
          turnId: 't',
          result: { callId: 'c', name: 'add', result: null, failed: false, multiStep: true },
        },
        { type: 'logged', event: { id: 1, at: 5, body: { type: 'title_changed', title: 'T' } } },
        {
          type: 'logged',
          event: { id: 2, at: 5, body: { type: 'tool_update', callId: 'c', toolName: 'add', message: 'm' } },
        },
        {
          type: 'logged',
          event: {
            id: 3,
            at: 5,
            body: { type: 'tool_complete', callId: 'c', toolName: 'add', failed: false, result: false },
          },
        },
        { type: 'logged', event: { id: 4, at: 5, body: { type: 'system_notice', message: 'm' } } },
        { type: 'interrupt', turnId: 't' },
        { type: 'turn_ended', turnId: 't', outcome: 'failed', error: 'why' },
        { type: 'session_deleted' },
        changed(7),
      ];
      for (const signal of signals) a.bus.publish(id, signal);
      expect(here.seen).toEqual(signals);
      await there.received(isChange(7));
      expect(there.seen).toEqual(signals);
      // What b sends now comes after everything that a could still have received of its own.
      b.bus.publish(id, changed(8));
      await here.received(isChange(8));
      expect(here.seen).toEqual([...signals, changed(8)]);
      expect([...a.lines, ...b.lines]).toEqual([]);
    }));

  it('keeps nodes with another prefix, and other sessions, apart', () =>
    withNodes(2, ([a, b]) =>
      withNodes(2, async ([c, d]) => {
        if (a === undefined || b === undefined || c === undefined || d === undefined) {
          throw new Error('there are no nodes');
        }
        const [id, another] = [randomUUID(), randomUUID()];
        const [friends, strangers] = [await listen(b.bus, id), await listen(d.bus, id)];
        a.bus.publish(id, changed(1));
        await friends.received(isChange(1));
        c.bus.publish(another, changed(2));
        c.bus.publish(id, changed(3));
        await strangers.received(isChange(3));
        expect(friends.seen).toEqual([changed(1)]);
        expect(strangers.seen).toEqual([changed(3)]);
      }),
    ));

  it('keeps one order for everybody when a listener publishes', () =>
    withNodes(2, async ([a, b]) => {
      if (a === undefined || b === undefined) throw new Error('there are no nodes');
      const id = randomUUID();
      await a.bus.subscribe(id, (signal) => {
        if (isChange(1)(signal)) a.bus.publish(id, changed(2));
      });
      const [here, there] = [await listen(a.bus, id), await listen(b.bus, id)];
      a.bus.publish(id, changed(1));
      await there.received(isChange(2));
      expect([here.seen, there.seen]).toEqual([
        [changed(1), changed(2)],
        [changed(1), changed(2)],
      ]);
    }));

  it('listens to a channel as long as somebody here does', () =>
    withNodes(2, async ([a, b], prefix) => {
      if (a === undefined || b === undefined) throw new Error('there are no nodes');
      const id = randomUUID();
      const subscribers = () =>
        withRedis(async (client) => (await client.pubsub('NUMSUB', `${prefix}:session:${id}`))[1]);
      const [first, second] = [await listen(a.bus, id), await listen(a.bus, id)];
      expect(await subscribers()).toBe(1);
      first.detach();
      first.detach();
      b.bus.publish(id, changed(1));
      await second.received(isChange(1));
      second.detach();
      const again = await listen(a.bus, id);
      b.bus.publish(id, changed(2));
      await again.received(isChange(2));
      expect(await subscribers()).toBe(1);
      again.detach();
      // It stays for a while, in case the next turn starts soon.
      while ((await subscribers()) !== 0);
    }));

  it('keeps large signals here, and makes the other nodes read the store', () =>
    withNodes(2, async ([a, b], prefix) => {
      if (a === undefined || b === undefined) throw new Error('there are no nodes');
      const id = randomUUID();
      const [here, there] = [await listen(a.bus, id), await listen(b.bus, id)];
      await withRedis(async (client) => {
        const sizes: number[] = [];
        client.on('message', (_channel: string, message: string) => sizes.push(Buffer.byteLength(message)));
        await client.subscribe(`${prefix}:session:${id}`);
        const large = (result: string): Signal => ({
          type: 'logged',
          event: {
            id: 1,
            at: 1,
            body: { type: 'tool_complete', callId: 'c', toolName: 't', failed: false, result },
          },
        });
        const signals = [large('x'.repeat(MAX_SIGNAL)), large('€'.repeat(MAX_SIGNAL / 2)), changed(5)];
        for (const signal of signals) a.bus.publish(id, signal);
        await there.received(isChange(5));
        expect(here.seen).toEqual(signals);
        expect(there.seen).toEqual([MISSED, changed(5)]);
        expect(Math.max(...sizes)).toBeLessThan(200);
      });
    }));

  it('sends what is published at once as one message, with the pieces of a text joined', () =>
    withNodes(2, async ([a, b], prefix) => {
      if (a === undefined || b === undefined) throw new Error('there are no nodes');
      const id = randomUUID();
      const there = await listen(b.bus, id);
      await withRedis(async (client) => {
        let messages = 0;
        client.on('message', () => (messages += 1));
        await client.subscribe(`${prefix}:session:${id}`);
        for (let n = 0; n < 100; n++) a.bus.publish(id, text('word ', 5 * n));
        a.bus.publish(id, changed(9));
        await there.received(isChange(9));
        await client.ping();
        expect(there.seen).toEqual([text('word '.repeat(100), 0), changed(9)]);
        expect(messages).toBe(1);
      });
    }));

  it('ignores a message that it does not understand, and says so', () =>
    withNodes(1, async ([a], prefix) => {
      if (a === undefined) throw new Error('there is no node');
      const id = randomUUID();
      const here = await listen(a.bus, id);
      const channel = `${prefix}:session:${id}`;
      const node = randomUUID();
      await withRedis(async (client) => {
        for (const bad of [
          '',
          'junk',
          node,
          `${node}{}`,
          `${node}[1]`,
          `${node}[{"type":"unheard_of"}]`,
          `${node}[{"type":"session_changed"}]`,
          `${node}[{"type":"logged","event":{"id":1,"at":1,"body":{"type":"title_changed"}}}]`,
          `${node}[{"type":"text","turnId":"t","attempt":1,"position":1,"offset":"0","content":"x"}]`,
        ]) {
          await client.publish(channel, bad);
        }
        await client.publish(channel, `${node}[${JSON.stringify(changed(1))}]`);
      });
      await here.received(isChange(1));
      expect(here.seen).toEqual([changed(1)]);
      expect(a.lines).toEqual(['warn ignored a malformed message from Redis']);
    }));

  it('delivers nothing once it is closed, and sends what was published before', () =>
    withNodes(2, async ([a, b]) => {
      if (a === undefined || b === undefined) throw new Error('there are no nodes');
      const id = randomUUID();
      const [here, there] = [await listen(a.bus, id), await listen(b.bus, id)];
      a.bus.publish(id, changed(1));
      await a.bus.close();
      a.bus.publish(id, changed(2));
      await there.received(isChange(1));
      b.bus.publish(id, changed(3));
      expect(here.seen).toEqual([changed(1)]);
      expect(there.seen).toEqual([changed(1), changed(3)]);
    }));

  it('refuses a URL that is none of Redis, without showing it', async () => {
    const { log } = collectLines();
    const url = 'http://user:hunter2@127.0.0.1';
    const opening = openRedisBus({ url, prefix: 'test', log });
    await expect(opening).rejects.toThrow('must begin with redis://');
    await expect(opening).rejects.not.toThrow('hunter2');
  });
});
