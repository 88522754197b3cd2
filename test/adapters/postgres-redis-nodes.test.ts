import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { openPostgresStore } from '../../src/adapters/stores/postgres/store.js';
import { openRedisBus } from '../../src/adapters/bus/redis/bus.js';
import type { Feed } from '../../src/core/model/feed.js';
import type { TurnUpdate } from '../../src/core/model/update.js';
import type { Tool } from '../../src/core/ports/tool.js';
import type { CoreSettings } from '../../src/core/model/settings.js';
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

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

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

/** Reads the text of a turn as it comes. */
function follow(feed: Feed<TurnUpdate>) {
  const progress = new EventEmitter();
  let text = '';
  const read = feed.each((update) => {
    if (update.type === 'text') text += update.content;
    progress.emit('text');
    return undefined;
  });
  return {
    /** Resolves when this is the text so far. */
    async has(expected: string): Promise<void> {
      while (text !== expected) await once(progress, 'text');
    },
    /** The text at the end of the turn. */
    whole: read.then(() => text),
  };
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

    async function twoNodes(settings: Partial<CoreSettings> = {}) {
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
        const { core } = testCore({
          ...{ rigs: [rig], tools: [large], store, bus },
          settings: { mirrorMs: 0, ...settings },
        });
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

    it('interrupt a turn of the other one by the bus', async () => {
      // No renewal: the owner cannot learn of it in another way.
      const { owner, other, rig } = await twoNodes({ leaseMs: 3_600_000, renewMs: 3_600_000 });
      const id = randomUUID();
      await owner.send(message(id, 'Hi'));
      const asked = await rig.next();
      asked.text('Some');
      const interrupted = other.interrupt(created(id));
      await aborted(asked.signal);
      expect(asked.signal.reason).toMatchObject({ stop: 'interrupted' });
      expect(await interrupted).toBe(true);
      expect((await other.snapshot(created(id))).status).toBe('interrupted');
      await owner.close();
    });

    it.each(['with Redis', 'without Redis'])('agree at once on what one has done, %s', async (redis) => {
      const { owner, other, lines } = await twoNodes();
      if (redis === 'without Redis') {
        await proxy.cut();
        await lines.has('Redis is unavailable', 2);
      }
      try {
        for (const isStored of [true, false, true]) {
          const id = randomUUID();
          if (isStored) await owner.createSession({ sessionId: id, wallet: 'a wallet' });
          for (const core of [owner, other]) await core.snapshot(created(id));
          await owner.renameSession(id, 'Renamed');
          expect((await other.getSession(id)).title).toBe('Renamed');
          await other.deleteSession(id);
          for (const core of [owner, other]) {
            await expect(core.getSession(id)).rejects.toMatchObject({ reason: 'not_found' });
            await expect(core.snapshot(created(id))).rejects.toMatchObject({ reason: 'not_found' });
            await expect(core.deleteSession(id)).rejects.toMatchObject({ reason: 'not_found' });
          }
          const listed = await owner.listThreads({
            ...{ session: created(randomUUID()), wallet: 'a wallet', limit: 10, after: null },
          });
          expect(listed.threads).toEqual([]);
          // One that only reads have touched, deleted before anything was stored.
          const read = randomUUID();
          for (const core of [owner, other]) await core.snapshot(created(read));
          await owner.deleteSession(read);
          for (const core of [owner, other]) {
            await expect(core.getSession(read)).rejects.toMatchObject({ reason: 'not_found' });
          }
        }
      } finally {
        await proxy.restore();
      }
    });

    it('carry a system error in one of the snapshots that both make', async () => {
      const { owner, other, rig } = await twoNodes();
      for (let round = 0; round < 5; round++) {
        const id = randomUUID();
        const sent = await owner.send(message(id, 'Hi'));
        (await rig.next()).fail(new Error('boom'));
        await owner.turnEnded(sent, new AbortController().signal);
        const taken = await Promise.all(
          [owner, other, other, owner].map(async (core) => core.snapshot(created(id))),
        );
        expect(taken.flatMap(({ faults }) => faults.events)).toHaveLength(1);
        for (const { faults } of taken) faults.confirm();
        const later = await Promise.all([owner, other].map(async (core) => core.snapshot(created(id))));
        expect(later.flatMap(({ faults }) => faults.events)).toEqual([]);
      }
    });

    it('go on without Redis: nothing is lost, and an interrupt arrives by the lease', async () => {
      const { owner, other, rig, lines } = await twoNodes();
      const id = randomUUID();
      const sent = await owner.send(message(id, 'Hi'));
      const asked = await rig.next();
      const feed = await other.watchTurn(sent);
      asked.text('before ');
      await proxy.cut();
      await lines.has('Redis is unavailable', 2);
      asked.text('after');
      try {
        expect(await other.interrupt(created(id))).toBe(true);
        await aborted(asked.signal);
        const updates = await collect(feed);
        const texts = updates.flatMap((update) => (update.type === 'text' ? [update.content] : []));
        expect(texts.join('')).toBe('before after');
        expect(updates.at(-1)).toMatchObject({ type: 'turn_ended', outcome: 'interrupted' });
        expect(spoken(await other.snapshot(created(id)))).toEqual(['user: Hi', 'assistant: before after']);
      } finally {
        await proxy.restore();
      }
    });

    it.each(['closes its connections', 'stops answering'])(
      'show the text of the other one once when Redis %s during a turn, and comes back',
      async (failure) => {
        const { owner, other, rig } = await twoNodes();
        const id = randomUUID();
        const sent = await owner.send(message(id, 'Hi'));
        const asked = await rig.next();
        const feed = await other.watchTurn(sent);
        asked.text('before ');
        const shown = follow(feed);
        await shown.has('before ');
        if (failure === 'stops answering') proxy.stall();
        else await proxy.cut();
        try {
          asked.text('during ');
          await shown.has('before during ');
        } finally {
          await proxy.restore();
        }
        asked.text('after').end();
        expect(await shown.whole).toBe('before during after');
        expect(spoken(await other.snapshot(created(id)))).toEqual([
          'user: Hi',
          'assistant: before during after',
        ]);
      },
    );
  });
});
