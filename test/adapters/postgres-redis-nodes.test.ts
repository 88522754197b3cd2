import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { openPostgresStore } from '../../src/adapters/postgres/store.js';
import { openRedisBus } from '../../src/adapters/redis/bus.js';
import type { TurnUpdate } from '../../src/core/core.js';
import type { Tool } from '../../src/core/ports.js';
import {
  closeTestCores,
  collect,
  collectUntil,
  created,
  message,
  spoken,
  testCore,
} from '../support/core.js';
import { collectLines } from '../support/lines.js';
import { describeWithPostgres, testDatabase } from '../support/postgres.js';
import { startProxy, type Proxy } from '../support/proxy.js';
import { describeWithRedis, REDIS_URL } from '../support/redis.js';
import { ScriptedRig } from '../support/scripted-rig.js';

const LARGE = 'x'.repeat(20_000);
const large: Tool = {
  ...{ name: 'large', description: 'Says much.', parameters: { type: 'object' } },
  ...{ sideEffects: 'none', timeoutMs: null },
  run: () => Promise.resolve(LARGE),
};

/** What a stream showed, the pieces of text between two other things as one. */
function joined(updates: readonly TurnUpdate[]): (TurnUpdate | string)[] {
  const shown: (TurnUpdate | string)[] = [];
  for (const update of updates) {
    const last = shown.at(-1);
    if (update.type !== 'text') shown.push(update);
    else if (typeof last === 'string') shown[shown.length - 1] = last + update.content;
    else shown.push(update.content);
  }
  return shown;
}

describeWithRedis('two nodes', () => {
  describeWithPostgres('over PostgreSQL and Redis', () => {
    const database = testDatabase();
    let url: string;
    let proxy: Proxy;
    const closing: (() => Promise<void>)[] = [];

    beforeAll(async () => {
      url = await database.newUrl();
      proxy = await startProxy(Number(new URL(REDIS_URL).port || '6379'));
    });

    afterEach(async () => {
      await closeTestCores();
      await Promise.all(closing.splice(0).map((close) => close()));
    });

    afterAll(() => proxy.close());

    async function twoNodes() {
      const prefix = `test:${randomUUID()}`;
      const lines = collectLines();
      const redis = new URL(REDIS_URL);
      redis.port = String(proxy.port);
      const open = async () => {
        const store = await openPostgresStore({ url, poolSize: 3 });
        const bus = await openRedisBus({ url: redis.href, prefix, log: lines.log });
        closing.push(
          () => store.close(),
          () => bus.close(),
        );
        const rig = new ScriptedRig();
        const { core } = testCore({ rigs: [rig], tools: [large], store, bus });
        await core.start();
        return { core, rig };
      };
      const [owner, other] = [await open(), await open()];
      return { owner: owner.core, rig: owner.rig, other: other.core, lines };
    }

    it('stream a turn of the other one, a large result too', async () => {
      const { owner, other, rig } = await twoNodes();
      const id = randomUUID();
      const updates = await other.updates(created(id), { after: null, turns: false });
      const sent = await owner.send(message(id, 'Hi'));
      const feed = await other.watchTurn(sent);
      (await rig.next()).text('Let me', ' see').call('c', 'large').end();
      (await rig.next()).text('Much', ' it is').end();
      const shown = await collect(feed);
      expect(joined(shown)).toMatchObject([
        { type: 'turn_started' },
        'Let me see',
        { type: 'tool_called', call: { callId: 'c' } },
        { type: 'tool_returned', result: { result: LARGE } },
        'Much it is',
        { type: 'turn_ended', outcome: 'complete' },
      ]);
      const logged = await collectUntil(
        updates,
        (update) => update.type === 'logged' && update.event.body.type === 'tool_complete',
      );
      expect(logged.at(-1)).toMatchObject({ event: { body: { result: LARGE } } });
    });

    it('interrupt a turn of the other one at once', async () => {
      const { owner, other, rig } = await twoNodes();
      const id = randomUUID();
      await owner.send(message(id, 'Hi'));
      const asked = await rig.next();
      asked.text('Some');
      const began = performance.now();
      expect(await other.interrupt(created(id))).toBe(true);
      expect(asked.signal.aborted).toBe(true);
      // By its renewal of the lease the owner would hear of it after 2 s.
      expect(performance.now() - began).toBeLessThan(1_500);
      expect((await other.snapshot(created(id))).status).toBe('interrupted');
      await owner.close();
    });

    it('go on without Redis: nothing is lost, and an interrupt arrives by the lease', async () => {
      const { owner, other, rig, lines } = await twoNodes();
      const id = randomUUID();
      const sent = await owner.send(message(id, 'Hi'));
      const asked = await rig.next();
      const feed = await other.watchTurn(sent);
      asked.text('before ');
      await proxy.cut();
      await lines.has('Redis is away', 2);
      asked.text('after');
      try {
        expect(await other.interrupt(created(id))).toBe(true);
        expect(asked.signal.aborted).toBe(true);
        const updates = await collect(feed);
        const texts = updates.flatMap((update) => (update.type === 'text' ? [update.content] : []));
        expect(texts.join('')).toBe('before after');
        expect(updates.at(-1)).toMatchObject({ type: 'turn_ended', outcome: 'interrupted' });
        expect(spoken(await other.snapshot(created(id)))).toEqual(['user: Hi', 'assistant: before after']);
      } finally {
        await proxy.restore();
      }
    }, 15_000);
  });
});
