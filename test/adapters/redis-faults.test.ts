import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { openRedisBus } from '../../src/adapters/bus/redis/bus.js';
import { checkRedis } from '../../src/adapters/bus/redis/check.js';
import type { Signal } from '../../src/core/model/event.js';
import type { Log } from '../../src/core/ports/log.js';
import { collectLines } from '../support/lines.js';
import { startProxy, type Proxy } from '../support/proxy.js';
import { describeWithRedis, listen, REDIS_URL, withNodes, withRedis } from '../support/redis.js';

const changed = (revision: number): Signal => ({ type: 'session_changed', revision });
const isChange = (revision: number) => (signal: Signal) =>
  signal.type === 'session_changed' && signal.revision === revision;
const AWAY = 'Redis is unavailable';
const BACK = 'Redis is available again';

describeWithRedis('the Redis bus when the connection fails', () => {
  let proxy: Proxy;
  let url: string;

  beforeEach(async () => {
    const server = new URL(REDIS_URL);
    proxy = await startProxy(Number(server.port === '' ? 6379 : server.port));
    server.port = String(proxy.port);
    server.hostname = '127.0.0.1';
    url = server.href;
  });

  afterEach(() => proxy.close());

  it('delivers here while Redis is away, says so once, and reaches the others when it is back', () =>
    withNodes(
      2,
      async ([a, b]) => {
        if (a === undefined || b === undefined) throw new Error('there are no nodes');
        const id = randomUUID();
        const [here, there] = [await listen(a.bus, id), await listen(b.bus, id)];
        expect([a.bus.isUp, b.bus.isUp]).toEqual([true, true]);
        await proxy.cut();
        await Promise.all([a.has(AWAY), b.has(AWAY)]);
        expect([a.bus.isUp, b.bus.isUp]).toEqual([false, false]);

        a.bus.publish(id, changed(1));
        expect(here.seen).toEqual([changed(1)]);
        const late = await listen(b.bus, id);
        b.bus.publish(id, changed(2));
        expect(late.seen).toEqual([changed(2)]);

        await proxy.restore();
        await Promise.all([a.has(BACK), b.has(BACK)]);
        expect([a.bus.isUp, b.bus.isUp]).toEqual([true, true]);
        // All listeners are to read the store, because signals may have been missed.
        await Promise.all(
          [here, there, late].map(({ received }) => received(({ type }) => type === 'missed')),
        );
        a.bus.publish(id, changed(3));
        await Promise.all([there.received(isChange(3)), late.received(isChange(3))]);
        b.bus.publish(id, changed(4));
        await here.received(isChange(4));
        expect(a.lines).toEqual([expect.stringContaining(AWAY), expect.stringContaining(BACK)]);
      },
      { url },
    ));

  it('starts while Redis is away, and finds the others later', async () => {
    await proxy.cut();
    await withNodes(
      1,
      ([away]) =>
        withNodes(1, async () => {
          if (away === undefined) throw new Error('there is no node');
          const id = randomUUID();
          const here = await listen(away.bus, id);
          away.bus.publish(id, changed(1));
          expect(here.seen).toEqual([changed(1)]);
          expect(away.lines).toEqual([expect.stringContaining(AWAY)]);
          await proxy.restore();
          await away.has(BACK);
        }),
      { url },
    );
  });

  it('receives signals again after its connections were killed', () =>
    withNodes(2, async ([a, b], prefix) => {
      if (a === undefined || b === undefined) throw new Error('there are no nodes');
      const ids = Array.from({ length: 1_200 }, () => randomUUID());
      const listeners = await Promise.all(ids.map((id) => listen(b.bus, id)));
      await withRedis(async (client) => {
        const channel = `${prefix}:session:${ids[0] ?? ''}`;
        expect((await client.pubsub('NUMSUB', channel))[1]).toBe(1);
        // Only ours: other tests use the same server.
        const list = String(await client.client('LIST'));
        const found = new RegExp(`^id=(\\d+) .* name=${prefix}:hearing `, 'gm');
        for (const [, clientId] of list.matchAll(found)) await client.client('KILL', 'ID', clientId ?? '');
      });
      await b.has(BACK);
      for (const id of ids) a.bus.publish(id, changed(1));
      await Promise.all(listeners.map(({ received }) => received(isChange(1))));
      for (const { seen } of listeners) expect(seen.filter(isChange(1))).toHaveLength(1);
    }));

  it('neither waits nor grows while Redis does not answer', () =>
    withNodes(
      1,
      ([stalled], prefix) =>
        withRedis(async (client) => {
          if (stalled === undefined) throw new Error('there is no node');
          const id = randomUUID();
          const here = await listen(stalled.bus, id);
          let received = 0;
          client.on('message', (_channel: string, message: string) => (received += message.length));
          await client.subscribe(`${prefix}:session:${id}`);
          proxy.stall();

          // Attached within a bound all the same.
          await listen(stalled.bus, randomUUID());
          const words = 'x'.repeat(7_000);
          const text: Signal = {
            type: 'text',
            turnId: 't',
            attempt: 1,
            position: 1,
            offset: 0,
            before: 0,
            content: words,
          };
          for (let round = 0; round < 50; round++) {
            for (let n = 0; n < 100; n++) stalled.bus.publish(id, text);
            await new Promise((resolve) => setImmediate(resolve));
          }
          expect(here.seen).toHaveLength(5_000);

          await proxy.restore();
          stalled.bus.publish(id, changed(1));
          // Something was dropped: all listeners are notified.
          await here.received(isChange(1));
          const last = await listen(stalled.bus, randomUUID());
          last.detach();
          await stalled.bus.close();
          await client.ping();
          expect(received).toBeGreaterThan(0);
          // 35 MB were published; what was kept is bounded.
          expect(received).toBeLessThan(8_000_000);
        }),
      { url },
    ));

  it('gives up a connection that has died without a word', () =>
    withNodes(
      1,
      ([stalled]) =>
        withNodes(1, async () => {
          if (stalled === undefined) throw new Error('there is no node');
          proxy.stall();
          await stalled.has(AWAY);
          await proxy.restore();
          await stalled.has(BACK);
        }),
      { url, heartbeatMs: 100 },
    ));
});

describeWithRedis('the Redis bus of a user without the right to its channels', () => {
  const user = `test-${randomUUID()}`;

  function allow(...rules: readonly string[]): Promise<unknown> {
    return withRedis((client) => client.call('ACL', 'SETUSER', user, ...rules));
  }

  function urlOf(): string {
    const url = new URL(REDIS_URL);
    [url.username, url.password] = [user, 'pw'];
    return url.href;
  }

  beforeEach(() => allow('reset', 'on', '>pw', '+@connection', '+@pubsub', '+info'));
  afterEach(() => withRedis((client) => client.call('ACL', 'DELUSER', user)));

  it('is down, logs that once, and delivers signals once the right is granted', () =>
    withNodes(
      2,
      async ([a, b], prefix) => {
        if (a === undefined || b === undefined) throw new Error('there are no nodes');
        const id = randomUUID();
        const there = await listen(b.bus, id);
        a.bus.publish(id, changed(1));
        await Promise.all([a.has(AWAY), b.has(AWAY)]);
        expect([a.bus.isUp, b.bus.isUp]).toEqual([false, false]);
        await allow(`&${prefix}:*`);
        await Promise.all([a.has(BACK), b.has(BACK)]);
        expect([a.bus.isUp, b.bus.isUp]).toEqual([true, true]);
        await there.received(({ type }) => type === 'missed');
        a.bus.publish(id, changed(2));
        await there.received(isChange(2));
        expect(a.lines).toEqual([expect.stringContaining(AWAY), expect.stringContaining(BACK)]);
      },
      { url: urlOf(), heartbeatMs: 100 },
    ));

  it('fails its check, and passes with the right', async () => {
    const prefix = `test:${randomUUID()}`;
    await expect(checkRedis(urlOf(), prefix)).rejects.toThrow('NOPERM');
    await allow(`&${prefix}:*`);
    await checkRedis(urlOf(), prefix);
  });

  it('logs the code with which Redis refuses a wrong password, and not the password', async () => {
    const url = new URL(urlOf());
    url.password = 'other';
    const warnings: object[] = [];
    const lines = collectLines();
    const warn: Log['warn'] = (fields, message) => {
      warnings.push(fields);
      lines.log.warn(fields, message);
    };
    const bus = await openRedisBus({ url: url.href, prefix: 'test', log: { ...lines.log, warn } });
    await lines.has(AWAY);
    await bus.close();
    const [fields] = warnings;
    expect(fields).toEqual({ err: expect.objectContaining({ code: 'WRONGPASS' }) });
    expect(inspect(fields)).not.toContain('other');
  });

  it('logs once why it cannot come back: a password that was changed', async () => {
    await allow('&*');
    await withNodes(
      1,
      async ([a]) => {
        if (a === undefined) throw new Error('there is no node');
        await allow('resetpass', '>other');
        await withRedis((client) => client.client('KILL', 'USER', user));
        await a.has('Redis is still unavailable');
        await allow('>pw');
        await a.has(BACK);
        const words = [AWAY, 'Redis is still unavailable', BACK];
        expect(a.lines).toEqual(words.map((part) => expect.stringContaining(part)));
      },
      { url: urlOf(), heartbeatMs: 100 },
    );
  });

  it('is down when only publishing is refused', async () => {
    await allow('&*', '-publish');
    await withNodes(
      1,
      async ([a]) => {
        if (a === undefined) throw new Error('there is no node');
        expect(a.bus.isUp).toBe(true);
        a.bus.publish(randomUUID(), changed(1));
        await a.has(AWAY);
        expect(a.bus.isUp).toBe(false);
        await allow('+publish');
        await a.has(BACK);
      },
      { url: urlOf(), heartbeatMs: 100 },
    );
  });
});
