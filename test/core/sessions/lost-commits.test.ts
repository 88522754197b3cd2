import { afterEach, describe, expect, it } from '@jest/globals';
import { v4 as uuid } from 'uuid';
import type { Feed } from '../../../src/core/model/feed.js';
import type { Update } from '../../../src/core/model/update.js';
import type { Store } from '../../../src/core/ports/store.js';
import type { Tool } from '../../../src/core/ports/tool.js';
import { closeTestCores, created, message, spoken, testCore } from '../../support/core.js';
import { FakeClock } from '../../support/fake-clock.js';
import { Gate } from '../../support/gate.js';
import { emptyState } from '../../support/memory-store/state.js';
import { createMemoryStore } from '../../support/memory-store/store.js';
import { ScriptedRig } from '../../support/scripted-rig.js';

afterEach(closeTestCores);

const never = new AbortController().signal;

const quick: Tool = {
  ...{ name: 'quick', description: '', parameters: { type: 'object' }, timeoutMs: null, sideEffects: 'none' },
  run: () => Promise.resolve('ok'),
};

/**
 * A node whose store can lose its latest commits, as a database does when an asynchronous replica takes over.
 * @param wrap replaces methods of the store
 */
function restorable(wrap: (store: Store) => Partial<Store> = () => ({})) {
  const state = emptyState();
  const memory = createMemoryStore(state);
  const loaded: string[] = [];
  const store: Store = {
    ...memory,
    loadThread(id, part) {
      loaded.push(id);
      return memory.loadThread(id, part);
    },
    ...wrap(memory),
  };
  const [rig, clock] = [new ScriptedRig(), new FakeClock()];
  const { core, bus } = testCore({ rigs: [rig], tools: [quick], store, clock, settings: { mirrorMs: 0 } });
  return {
    ...{ core, bus, rig, clock, memory, loaded },
    /** Copies the contents. The function that it returns puts the copy in their place. */
    backUp: () => {
      const copy = structuredClone(state);
      return () => Object.assign(state, structuredClone(copy));
    },
    converse: async (id: string, text: string, reply: string) => {
      const sent = await core.send(message(id, text));
      (await rig.next()).text(reply).end();
      await core.turnEnded(sent, never);
    },
    shown: async (id: string) => spoken(await core.snapshot(created(id))),
  };
}

/** What a feed has delivered so far. */
function following(feed: Feed<Update>): (string | number)[] {
  const seen: (string | number)[] = [];
  void feed.each((update) => {
    if (update.type === 'logged') seen.push(update.event.id);
    else if (update.type === 'gap') seen.push(`gap ${String(update.from)} to ${String(update.to)}`);
    return undefined;
  });
  return seen;
}

describe('a cached session whose store has lost commits', () => {
  it('shows what the store has, and the next message after it', async () => {
    const { backUp, converse, shown } = restorable();
    const id = uuid();
    await converse(id, 'One', 'First.');
    const restore = backUp();
    await converse(id, 'Two', 'Second.');
    restore();
    expect(await shown(id)).toEqual(['user: One', 'assistant: First.']);
    await converse(id, 'Three', 'Third.');
    expect(await shown(id)).toEqual(['user: One', 'assistant: First.', 'user: Three', 'assistant: Third.']);
  });

  it('is read again when a write of this process gets a known revision', async () => {
    const { core, rig, backUp } = restorable();
    const id = uuid();
    const sent = await core.send(message(id, 'One'));
    const asked = await rig.next();
    const restore = backUp();
    for (const title of ['a', 'b', 'c']) await core.renameSession(id, title);
    restore();
    // Three commits: the last one follows the newest revision that this process knows.
    asked.call('c1', 'quick').end();
    (await rig.next()).text('First.').end();
    await core.turnEnded(sent, never);
    const { session, ...snapshot } = await core.snapshot(created(id));
    expect([session.title, ...spoken({ session, ...snapshot })]).toEqual([
      'New Chat',
      'user: One',
      'quick = "ok"',
      'assistant: First.',
    ]);
  });

  it('is read again once when a revision was announced that the store does not have', async () => {
    const { core, bus, converse, shown, loaded } = restorable();
    const id = uuid();
    await converse(id, 'One', 'First.');
    await core.updates(created(id), { after: null, turns: false });
    bus.publish(id, { type: 'session_changed', revision: 99 });
    const texts = ['user: One', 'assistant: First.'];
    expect(await shown(id)).toEqual(texts);
    const before = loaded.length;
    for (let n = 0; n < 3; n++) expect(await shown(id)).toEqual(texts);
    expect(loaded).toHaveLength(before);
  });

  it.each(['fresh', 'stale'])('begins again when the store has lost all of it and it is %s', async (kind) => {
    const { core, bus, backUp, converse, shown } = restorable();
    const id = uuid();
    const restore = backUp();
    await converse(id, 'One', 'First.');
    await core.renameSession(id, 'Lost');
    await core.updates(created(id), { after: null, turns: false });
    restore();
    if (kind === 'stale') bus.publish(id, { type: 'session_changed', revision: 99 });
    expect(await shown(id)).toEqual([]);
    await converse(id, 'Two', 'Second.');
    expect(await shown(id)).toEqual(['user: Two', 'assistant: Second.']);
  });

  it('takes a message without being read first when the store has lost all of it', async () => {
    const { core, backUp, converse, shown } = restorable();
    const id = uuid();
    const restore = backUp();
    await converse(id, 'One', 'First.');
    await core.renameSession(id, 'Lost');
    await shown(id);
    restore();
    await converse(id, 'Two', 'Second.');
    expect(await shown(id)).toEqual(['user: Two', 'assistant: Second.']);
  });

  it('is not read again for a read of the revision that began before a write of this process', async () => {
    const [reading, read] = [new Gate(), new Gate()];
    let isSlow = false;
    const { core, shown, converse, loaded } = restorable((store) => ({
      async revisionOf(id) {
        const revision = await store.revisionOf(id);
        if (isSlow) {
          isSlow = false;
          reading.open();
          await read.passed;
        }
        return revision;
      },
    }));
    const id = uuid();
    await converse(id, 'One', 'First.');
    await shown(id);
    isSlow = true;
    const early = shown(id);
    await reading.passed;
    const before = loaded.length;
    await converse(id, 'Two', 'Second.');
    read.open();
    expect(await early).toHaveLength(4);
    expect((await core.snapshot(created(id))).settledCount).toBe(4);
    expect(loaded).toHaveLength(before);
  });
});

describe('a stream whose store has lost events', () => {
  async function watched(node: ReturnType<typeof restorable>, kept: number) {
    const { core, clock, backUp } = node;
    const id = uuid();
    await core.start();
    await core.createSession({ sessionId: id });
    const seen = following(await core.updates(created(id), { after: null, turns: false }));
    let restore = backUp();
    for (let n = 1; n <= 3; n++) {
      await clock.advance(1);
      await core.renameSession(id, `before ${String(n)}`);
      if (n === kept) restore = backUp();
    }
    await clock.advance(1);
    expect(seen).toEqual([1, 2, 3]);
    seen.length = 0;
    restore();
    return { id, seen };
  }

  it('has a gap before the next events, which have known ids', async () => {
    const node = restorable();
    const { id, seen } = await watched(node, 1);
    for (const title of ['d', 'e', 'f']) {
      await node.core.renameSession(id, title);
      await node.clock.advance(1);
    }
    expect(seen).toEqual(['gap 3 to 3', 3, 4]);
  });

  it('has a gap and the next event if that has the id of the last one', async () => {
    const node = restorable();
    const { id, seen } = await watched(node, 2);
    await node.core.renameSession(id, 'd');
    await node.clock.advance(1);
    expect(seen).toEqual(['gap 3 to 3', 3]);
  });

  it.each([
    [0, 'gap 1 to 3'],
    [1, 'gap 2 to 3'],
  ])('has a gap without a new event, with %i events left', async (kept, gap) => {
    const node = restorable();
    const { seen } = await watched(node, kept);
    await node.clock.advance(2_000);
    expect(seen).toEqual([gap]);
  });

  it('has a gap when the store has lost the session', async () => {
    const node = restorable();
    const restore = node.backUp();
    const { seen } = await watched(node, 3);
    restore();
    await node.clock.advance(2_000);
    expect(seen).toEqual(['gap 1 to 3']);
  });

  it('has a gap when the store has more events again than the stream knows', async () => {
    const node = restorable();
    const { id, seen } = await watched(node, 1);
    for (let n = 0; n < 4; n++) {
      await node.clock.advance(1);
      await node.memory.appendEvents(id, [{ type: 'system_notice', message: 'elsewhere' }], node.clock.now());
    }
    await node.clock.advance(2_000);
    expect(seen).toEqual(['gap 3 to 3', 3, 4, 5]);
  });

  it('has no gap for a comparison that began before the last event', async () => {
    let meanwhile: (() => Promise<unknown>) | undefined;
    const { core, clock, memory, loaded } = restorable((store) => ({
      async heads(ids) {
        const found = await store.heads(ids);
        await meanwhile?.();
        meanwhile = undefined;
        return found;
      },
    }));
    const id = uuid();
    await core.start();
    await core.createSession({ sessionId: id });
    const seen = following(await core.updates(created(id), { after: null, turns: false }));
    meanwhile = () => core.renameSession(id, 'during the comparison');
    await clock.advance(2_000);
    await core.renameSession(id, 'later');
    await clock.advance(1);
    expect(seen).toEqual([1, 2]);
    expect((await memory.readEvents(id, 0, 10)).lastId).toBe(2);
    expect(loaded.length).toBeLessThan(3);
  });
});
