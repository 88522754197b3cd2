import { afterEach, describe, expect, it } from '@jest/globals';
import { v4 as uuid } from 'uuid';
import { createMemoryStore } from '../../support/memory-store/store.js';
import type { Tool } from '../../../src/core/ports/tool.js';
import { MAX_BACKLOG, QueueFeed } from '../../../src/core/streams/queue-feed.js';
import type { Update } from '../../../src/core/model/update.js';
import type { Store } from '../../../src/core/ports/store.js';
import { closeTestCores, collect, collectUntil, created, message, testCore } from '../../support/core.js';
import { Gate } from '../../support/gate.js';
import { FakeClock } from '../../support/fake-clock.js';
import { ScriptedRig } from '../../support/scripted-rig.js';

afterEach(closeTestCores);

function ids(updates: readonly Update[]): (number | string)[] {
  return updates.map((update) => (update.type === 'logged' ? update.event.id : update.type));
}

function isEvent(id: number): (update: Update) => boolean {
  return (update) => update.type === 'logged' && update.event.id === id;
}

describe('a turn that has become large', () => {
  it('is shown whole to a late subscriber', async () => {
    const large: Tool = {
      ...{ name: 'large', description: '', parameters: { type: 'object' }, timeoutMs: null },
      sideEffects: 'none',
      run: () => Promise.resolve('x'.repeat(60_000)),
    };
    const rig = new ScriptedRig();
    const { core } = testCore({ rigs: [rig], tools: [large] });
    const sent = await core.send(message(uuid(), 'Hi'));
    const asked = await rig.next();
    for (let n = 0; n < 12; n++) asked.call(`c${String(n)}`, 'large');
    asked.end();
    const last = await rig.next();
    const late = await core.watchTurn(sent);
    last.text('Done.').end();
    await core.turnEnded(sent, new AbortController().signal);
    for (const feed of [late, await core.watchTurn(sent)]) {
      const events = await collect(feed);
      expect(feed.overflowed).toBe(false);
      expect(events.filter(({ type }) => type === 'tool_returned')).toHaveLength(12);
    }
  });
});

describe('updates', () => {
  it('replay what came after the cursor, once, in order, and go on live', async () => {
    const { core, store } = testCore({ rigs: [new ScriptedRig()] });
    const id = uuid();
    for (const title of ['a', 'b', 'c']) {
      if (title === 'a') await core.createSession({ sessionId: id });
      await core.renameSession(id, title);
    }
    const feed = await core.updates(created(id), { after: 1, turns: false });
    // Logged while the replay is being read: neither lost nor doubled.
    await core.renameSession(id, 'd');
    const seen = collectUntil(feed, isEvent(120));
    for (let n = 5; n <= 120; n++) await core.renameSession(id, String(n));
    expect(ids(await seen)).toEqual(Array.from({ length: 119 }, (_, index) => index + 2));
    expect((await store.readEvents(id, 0, 1)).lastId).toBe(120);
  });

  it('have what was logged after the store was read, and before the answer was there', async () => {
    const store = createMemoryStore();
    let meanwhile: (() => Promise<unknown>) | undefined;
    const readEvents: Store['readEvents'] = async (...asked) => {
      const page = await store.readEvents(...asked);
      const happens = meanwhile;
      meanwhile = undefined;
      await happens?.();
      return page;
    };
    const { core } = testCore({ rigs: [new ScriptedRig()], store: { ...store, readEvents } });
    const id = uuid();
    await core.createSession({ sessionId: id });
    await core.renameSession(id, 'before');
    meanwhile = () => core.renameSession(id, 'meanwhile');
    const feed = await core.updates(created(id), { after: 1, turns: false });
    expect(ids(await collectUntil(feed, () => true))).toEqual([2]);
  });

  it('have all missed events, however long they are', async () => {
    const { core, store } = testCore({ rigs: [new ScriptedRig()] });
    const id = uuid();
    await core.createSession({ sessionId: id });
    const long = Array.from({ length: 60 }, (_, n) => ({
      ...({ type: 'tool_complete', callId: String(n), toolName: 'look', failed: false } as const),
      result: 'x'.repeat(65_536),
    }));
    await store.appendEvents(id, long, Date.now());
    const feed = await core.updates(created(id), { after: 0, turns: false });
    const seen = ids(await collectUntil(feed, isEvent(60)));
    expect(feed).toMatchObject({ overflowed: false });
    expect(seen).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
  });

  it('without a cursor are live only', async () => {
    const { core } = testCore({ rigs: [new ScriptedRig()] });
    const id = uuid();
    await core.createSession({ sessionId: id });
    await core.renameSession(id, 'before');
    const feed = await core.updates(created(id), { after: null, turns: false });
    await core.renameSession(id, 'after');
    expect(ids(await collectUntil(feed, () => true))).toEqual([2]);
  });

  it('report a gap when the cursor is older than what is kept, or newer than the newest', async () => {
    const { core, store } = testCore({ rigs: [new ScriptedRig()] });
    const id = uuid();
    await core.createSession({ sessionId: id });
    for (const title of ['a', 'b', 'c', 'd']) await core.renameSession(id, title);
    const later = Date.now() + 1;
    await store.prune({
      at: later,
      threadsBefore: null,
      eventsKept: 2,
      eventsSince: later,
      idempotencyBefore: 0,
      usesBefore: 0,
      transactionsBefore: 0,
      usageBefore: 0,
      activityBefore: 0,
    });
    const old = await core.updates(created(id), { after: 1, turns: false });
    expect(await collectUntil(old, isEvent(4))).toMatchObject([
      { type: 'gap', from: 2, to: 2 },
      { event: { id: 3 } },
      { event: { id: 4 } },
    ]);
    const fresh = await core.updates(created(id), { after: 9, turns: false });
    const seen = collectUntil(fresh, isEvent(5));
    await core.renameSession(id, 'e');
    expect(await seen).toMatchObject([{ type: 'gap', from: 5, to: 9 }, { event: { id: 5 } }]);
  });

  it('with turns begin with the text so far of the turn that runs', async () => {
    const rig = new ScriptedRig();
    const { core } = testCore({ rigs: [rig] });
    const id = uuid();
    const sent = await core.send(message(id, 'Hi'));
    const asked = await rig.next();
    const watched = await core.watchTurn(sent);
    asked.text('one ', 'two ');
    await collectUntil(watched, (update) => update.type === 'text' && update.content === 'two ');
    const feed = await core.updates(created(id), { after: null, turns: true });
    asked.text('three').end();
    const seen = await collectUntil(feed, ({ type }) => type === 'turn_ended');
    expect(seen).toMatchObject([
      { type: 'turn_started', turnId: sent.turnId },
      { type: 'text', content: 'one two ' },
      { type: 'text', content: 'three' },
      { type: 'turn_ended', outcome: 'complete' },
    ]);
  });

  it('with turns show a turn that ended during the replay, after it', async () => {
    const store = createMemoryStore();
    const [reading, read] = [new Gate(), new Gate()];
    const readEvents: Store['readEvents'] = async (...asked) => {
      const page = await store.readEvents(...asked);
      reading.open();
      await read.passed;
      return page;
    };
    const rig = new ScriptedRig();
    const { core } = testCore({ rigs: [rig], store: { ...store, readEvents } });
    const id = uuid();
    await core.createSession({ sessionId: id });
    await core.renameSession(id, 'before');
    const feed = await core.updates(created(id), { after: 0, turns: true });
    const seen = collectUntil(feed, ({ type }) => type === 'turn_ended');
    await reading.passed;
    const sent = await core.send(message(id, 'Hi'));
    (await rig.next()).text('Hello').end();
    await core.turnEnded(sent, new AbortController().signal);
    read.open();
    expect(await seen).toMatchObject([
      { type: 'logged' },
      { type: 'turn_started', turnId: sent.turnId },
      { type: 'text', content: 'Hello' },
      { type: 'turn_ended', outcome: 'complete' },
    ]);
  });

  it('end when the thread is deleted, by this process or another', async () => {
    const clock = new FakeClock();
    const { core, store } = testCore({ rigs: [new ScriptedRig()], clock });
    const [mine, theirs] = [uuid(), uuid()];
    for (const sessionId of [mine, theirs]) await core.createSession({ sessionId });
    const first = await core.updates(created(mine), { after: null, turns: false });
    await core.deleteSession(mine);
    expect(await collect(first)).toEqual([]);
    await core.start();
    const second = await core.updates(created(theirs), { after: null, turns: false });
    await store.deleteSession(theirs, Date.now());
    expect(await clock.passUntil(collect(second))).toEqual([]);
    await expect(core.snapshot(created(mine))).rejects.toMatchObject({ reason: 'not_found' });
  });
});

describe('streams that have missed signals', () => {
  it('are compared with the store in batches, one after the other, when all have', async () => {
    const store = createMemoryStore();
    const sizes: number[] = [];
    let running = 0;
    let mostAtOnce = 0;
    const heads: Store['heads'] = async (ids) => {
      sizes.push(ids.length);
      mostAtOnce = Math.max(mostAtOnce, ++running);
      const found = await store.heads(ids);
      running -= 1;
      return found;
    };
    const { core, bus } = testCore({ rigs: [new ScriptedRig()], store: { ...store, heads } });
    const sessions = Array.from({ length: 501 }, () => uuid());
    const feeds = await Promise.all(
      sessions.map(async (id) => {
        await core.createSession({ sessionId: id });
        const feed = await core.updates(created(id), { after: null, turns: false });
        await store.appendEvents(id, [{ type: 'system_notice', message: 'by another node' }], Date.now());
        return feed;
      }),
    );
    for (const id of sessions) bus.publish(id, { type: 'missed' });
    await Promise.all(feeds.map((feed) => collectUntil(feed, isEvent(1))));
    expect([sizes, mostAtOnce]).toEqual([[500, 1], 1]);
  });

  it('are compared again for a signal that comes during the comparison', async () => {
    const store = createMemoryStore();
    let meanwhile: (() => Promise<void>) | undefined;
    const heads: Store['heads'] = async (ids) => {
      const found = await store.heads(ids);
      const happens = meanwhile;
      meanwhile = undefined;
      await happens?.();
      return found;
    };
    const { core, bus } = testCore({ rigs: [new ScriptedRig()], store: { ...store, heads } });
    const id = uuid();
    await core.createSession({ sessionId: id });
    const feed = await core.updates(created(id), { after: null, turns: false });
    meanwhile = async () => {
      await store.appendEvents(id, [{ type: 'system_notice', message: 'late' }], Date.now());
      bus.publish(id, { type: 'missed' });
    };
    bus.publish(id, { type: 'missed' });
    expect(ids(await collectUntil(feed, isEvent(1)))).toEqual([1]);
  });
});

describe('a deleted thread', () => {
  it('stops its turn, comes back only by a write, empty, with its event ids going on', async () => {
    const rig = new ScriptedRig();
    const { core } = testCore({ rigs: [rig] });
    const id = uuid();
    const sent = await core.send(message(id, 'Hi'));
    await core.renameSession(id, 'Mine');
    const asked = await rig.next();
    const feed = await core.watchTurn(sent);
    await core.deleteSession(id);
    expect((await collect(feed)).at(-1)).toEqual({ type: 'cut', reason: 'deleted' });
    await asked.left;
    await expect(core.getSession(id)).rejects.toMatchObject({ reason: 'not_found' });
    await expect(core.deleteSession(id)).rejects.toMatchObject({ reason: 'not_found' });
    expect((await core.createSession({ sessionId: id })).created).toBe(true);
    const snapshot = await core.snapshot(created(id));
    expect([snapshot.session.title, snapshot.settled, snapshot.open]).toEqual(['New Chat', [], []]);
    await core.renameSession(id, 'Again');
    expect((await core.snapshot(created(id))).session.lastEventId).toBe(2);
  });
});

describe('a feed', () => {
  it('is dropped when its consumer falls too far behind', async () => {
    let closed = 0;
    const feed = new QueueFeed<string>(
      ({ length }) => length,
      () => closed++,
    );
    feed.push('x'.repeat(MAX_BACKLOG));
    expect(feed.overflowed).toBe(false);
    feed.push('y');
    expect([feed.overflowed, closed]).toEqual([true, 1]);
    expect(await collect(feed)).toEqual([]);
    expect(closed).toBe(1);
  });
});
