import { afterEach, describe, expect, it } from '@jest/globals';
import { v4 as uuid } from 'uuid';
import { createMemoryBus } from '../../src/adapters/memory/bus.js';
import { createMemoryStore } from '../../src/adapters/memory/store.js';
import type { Signal } from '../../src/core/event.js';
import type { Bus } from '../../src/core/ports.js';
import { StoreUnavailableError, type Store } from '../../src/core/store.js';
import {
  closeTestCores,
  collect,
  collectUntil,
  created,
  message,
  spoken,
  testCore,
} from '../support/core.js';
import { ScriptedRig } from '../support/scripted-rig.js';

afterEach(closeTestCores);

/** Two buses that tell each other what is published, but for what `drops` says is lost on the way. */
function joinedBuses(drops: (signal: Signal) => boolean): [Bus, Bus] {
  const [one, other] = [createMemoryBus(), createMemoryBus()];
  const join = (mine: Bus, theirs: Bus): Bus => ({
    ...mine,
    publish(sessionId, signal) {
      mine.publish(sessionId, signal);
      if (!drops(signal)) theirs.publish(sessionId, signal);
    },
  });
  return [join(one, other), join(other, one)];
}

function twoNodes(drops: (signal: Signal) => boolean = () => false) {
  const store = createMemoryStore();
  const [busA, busB] = joinedBuses(drops);
  const rig = new ScriptedRig();
  const { core: owner } = testCore({ rigs: [rig], store, bus: busA });
  const { core: other } = testCore({ rigs: [new ScriptedRig()], store, bus: busB });
  return { owner, other, rig };
}

describe('a node that does not work on the turn', () => {
  it('streams it from beginning to end', async () => {
    const { owner, other, rig } = twoNodes();
    const sent = await owner.send(message(uuid(), 'Hi'));
    const asked = await rig.next();
    asked.text('one ');
    const feed = await other.watchTurn(sent);
    asked.text('two').end();
    const texts = (await collect(feed)).flatMap((update) => (update.type === 'text' ? [update.content] : []));
    expect(texts.join('')).toBe('one two');
  });

  it.each([
    ['text', 'all'],
    ['text', 'some'],
    ['turn_ended', 'all'],
  ])('loses nothing when the bus loses %s (%s)', async (type, share) => {
    let n = 0;
    const { owner, other, rig } = twoNodes(
      (signal) => signal.type === type && (share === 'all' || n++ % 3 === 1),
    );
    await other.start();
    const sent = await owner.send(message(uuid(), 'Hi'));
    const feed = await other.watchTurn(sent);
    const asked = await rig.next();
    const words = Array.from({ length: 30 }, (_, index) => `${String(index)} `);
    asked.text(...words).end();
    const updates = await collect(feed);
    const texts = updates.flatMap((update) => (update.type === 'text' ? [update.content] : []));
    expect(texts.join('')).toBe(words.join(''));
    expect(updates.at(-1)).toMatchObject({ type: 'turn_ended', outcome: 'complete' });
  });

  it('shows its text in flight, by poll and by push', async () => {
    const { owner, other, rig } = twoNodes();
    const id = uuid();
    await owner.send(message(id, 'Hi'));
    const asked = await rig.next();
    asked.text('Some words');
    let seen = spoken(await other.snapshot(created(id)));
    // The owner stores its checkpoint about every half second.
    while (seen.length < 2) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      seen = spoken(await other.snapshot(created(id)));
    }
    expect(seen).toEqual(['user: Hi', 'assistant~ Some words']);
    const feed = await other.updates(created(id), { after: null, turns: true });
    const begun = await collectUntil(feed, ({ type }) => type === 'text');
    expect(begun).toMatchObject([{ type: 'turn_started' }, { type: 'text', content: 'Some words' }]);
    asked.text(' more').end();
  });

  it('interrupts it', async () => {
    const { owner, other, rig } = twoNodes();
    const id = uuid();
    await owner.send(message(id, 'Hi'));
    const asked = await rig.next();
    asked.text('Some');
    expect(await other.interrupt(created(id))).toBe(true);
    expect(asked.signal.aborted).toBe(true);
    const { status } = await other.snapshot(created(id));
    expect([status, spoken(await other.snapshot(created(id)))]).toEqual([
      'interrupted',
      ['user: Hi', 'assistant: Some'],
    ]);
    await owner.close();
  });

  it('sees what another wrote within a second', async () => {
    const { owner, other, rig } = twoNodes();
    const id = uuid();
    await other.createSession({ sessionId: id });
    const sent = await owner.send(message(id, 'Hi'));
    (await rig.next()).text('Hello').end();
    await owner.turnEnded(sent, new AbortController().signal);
    let seen = spoken(await other.snapshot(created(id)));
    while (seen.length < 2) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      seen = spoken(await other.snapshot(created(id)));
    }
    expect(seen).toEqual(['user: Hi', 'assistant: Hello']);
  });
});

describe('deltas on a node that does not work on the turn', () => {
  it('are shown once and in order, whatever the bus loses and however late the stream begins', async () => {
    let n = 0;
    const { owner, other, rig } = twoNodes((signal) => signal.type === 'text' && n++ % 5 === 2);
    const id = uuid();
    const early = await other.updates(created(id), { after: null, turns: true });
    await owner.send(message(id, 'Hi'));
    const asked = await rig.next();
    const words = Array.from({ length: 40 }, (_, index) => `${String(index)} `);
    asked.text(...words.slice(0, 20));
    await collectUntil(
      await owner.updates(created(id), { after: null, turns: true }),
      ({ type }) => type === 'text',
    );
    const late = await other.updates(created(id), { after: null, turns: true });
    asked.text(...words.slice(20));
    for (const feed of [early, late]) {
      let text = '';
      for await (const update of feed) {
        if (update.type === 'turn_started') text = '';
        if (update.type === 'text') text += update.content;
        if (text === words.join('')) break;
        expect(words.join('').startsWith(text)).toBe(true);
      }
      expect(text).toBe(words.join(''));
    }
    asked.end();
  });
});

describe('nodes that ask the store each time', () => {
  /** Two nodes that hear nothing of each other, so that only the store can tell. */
  function strangers(store: Store = createMemoryStore()) {
    const open = () => {
      const rig = new ScriptedRig();
      return { ...testCore({ rigs: [rig], store, settings: { mirrorMs: 0 } }), rig };
    };
    return { one: open(), other: open() };
  }

  it('show at once what another has written: a message, a title, a user state', async () => {
    const { one, other } = strangers();
    const id = uuid();
    for (const { core } of [one, other]) await core.snapshot(created(id));
    const sent = await one.core.send(message(id, 'Hi'));
    expect(spoken(await other.core.snapshot(created(id)))).toEqual(['user: Hi']);
    (await one.rig.next()).text('Hello').end();
    await one.core.turnEnded(sent, new AbortController().signal);
    expect(spoken(await other.core.snapshot(created(id)))).toEqual(['user: Hi', 'assistant: Hello']);
    await other.core.renameSession(id, 'Another title');
    expect((await one.core.getSession(id)).title).toBe('Another title');
    // Back to what one of them has known before: it must not take that for no change.
    const states = [{ n: 1 }, { n: 2 }, { n: 1 }];
    for (const [n, userState] of states.entries()) {
      await (n % 2 === 0 ? one : other).core.snapshot(created(id), { userState });
    }
    expect((await other.core.snapshot(created(id))).session.userState).toMatchObject({ tree: { n: 1 } });
  });

  it.each(['stored', 'only read'])('know at once that a session is deleted that was %s', async (kind) => {
    const { one, other } = strangers();
    const id = uuid();
    if (kind === 'stored') await one.core.createSession({ sessionId: id });
    for (const { core } of [one, other]) await core.snapshot(created(id));
    await other.core.deleteSession(id);
    const refused = { reason: 'not_found' };
    await expect(one.core.getSession(id)).rejects.toMatchObject(refused);
    await expect(one.core.snapshot(created(id))).rejects.toMatchObject(refused);
    await expect(one.core.deleteSession(id)).rejects.toMatchObject(refused);
    await expect(one.core.renameSession(id, 'x')).rejects.toMatchObject(refused);
    // A write brings it back, empty, for all.
    expect(await one.core.createSession({ sessionId: id })).toMatchObject({ created: true });
    expect((await other.core.getSession(id)).title).toBe('New Chat');
  });

  it('ask for many sessions in one question', async () => {
    const memory = createMemoryStore();
    let questions = 0;
    const counting: Store = {
      ...memory,
      revisionOf: (id) => (questions++, memory.revisionOf(id)),
      heads: (ids) => (questions++, memory.heads(ids)),
    };
    const { one } = strangers(counting);
    const ids = Array.from({ length: 100 }, () => uuid());
    for (const sessionId of ids) await one.core.createSession({ sessionId });
    questions = 0;
    await Promise.all([...ids, ...ids].map((id) => one.core.snapshot(created(id))));
    expect(questions).toBe(2);
  });

  it('refuse at once, all of them, when the store does not answer', async () => {
    const memory = createMemoryStore();
    let isAway = false;
    const asked = <T>(answer: () => Promise<T>): Promise<T> =>
      isAway ? Promise.reject(new StoreUnavailableError('away')) : answer();
    const { one } = strangers({
      ...memory,
      revisionOf: (id) => asked(() => memory.revisionOf(id)),
      heads: (ids) => asked(() => memory.heads(ids)),
    });
    const ids = [uuid(), uuid(), uuid()];
    for (const sessionId of ids) await one.core.createSession({ sessionId });
    isAway = true;
    const results = await Promise.allSettled(ids.map((id) => one.core.snapshot(created(id))));
    expect(results.map(({ status }) => status)).toEqual(ids.map(() => 'rejected'));
    isAway = false;
    expect((await Promise.all(ids.map((id) => one.core.getSession(id)))).map(({ id }) => id)).toEqual(ids);
  });
});

describe('a system error', () => {
  async function failed() {
    const store = createMemoryStore();
    const rig = new ScriptedRig();
    const [busA, busB] = joinedBuses(() => false);
    const { core: owner } = testCore({ rigs: [rig], store, bus: busA });
    const { core: other } = testCore({ rigs: [new ScriptedRig()], store, bus: busB });
    const id = uuid();
    const sent = await owner.send(message(id, 'Hi'));
    (await rig.next()).fail(new Error('boom'));
    await owner.turnEnded(sent, new AbortController().signal);
    return { owner, other, id, store };
  }

  it('is carried by one of many snapshots made at the same time on two nodes', async () => {
    const { owner, other, id } = await failed();
    const taken = await Promise.all(
      [owner, other, owner, other, other].map((core) => core.snapshot(created(id))),
    );
    expect(taken.flatMap(({ faults }) => faults.texts)).toHaveLength(1);
    expect((await owner.snapshot(created(id))).faults.texts).toEqual([]);
    expect((await other.snapshot(created(id))).faults.texts).toEqual([]);
    for (const { faults } of taken) faults.confirm();
    for (const core of [owner, other]) {
      expect((await core.snapshot(created(id))).faults.texts).toEqual([]);
    }
  });

  it('is not carried again by a node that has known of it since before it was shown', async () => {
    const { owner, other, id } = await failed();
    await other.snapshot(created(id), { leavesFaults: true });
    const first = await owner.snapshot(created(id));
    expect(first.faults.texts).toHaveLength(1);
    first.faults.confirm();
    expect((await other.snapshot(created(id))).faults.texts).toEqual([]);
  });

  it('is carried by another node when the answer that had it was not sent', async () => {
    const { owner, other, id } = await failed();
    const first = await owner.snapshot(created(id));
    expect(first.faults.texts).toHaveLength(1);
    first.faults.release();
    expect((await other.snapshot(created(id))).faults.texts).toHaveLength(1);
  });

  it('is carried by another node when the one that had it died with it', async () => {
    const { owner, other, id, store } = await failed();
    // As by a node that claimed it and is no more.
    expect((await store.claimFaults(id, { owner: 'dead', milliseconds: -1 })).faults).toHaveLength(1);
    expect((await other.snapshot(created(id))).faults.texts).toHaveLength(1);
    expect((await owner.snapshot(created(id))).faults.texts).toEqual([]);
  });

  it('costs snapshots without one no question to the store', async () => {
    const memory = createMemoryStore();
    let asked = 0;
    const store: Store = {
      ...memory,
      claimFaults(id, claim) {
        asked++;
        return memory.claimFaults(id, claim);
      },
    };
    const rig = new ScriptedRig();
    const { core } = testCore({ rigs: [rig], store });
    const id = uuid();
    const sent = await core.send(message(id, 'Hi'));
    (await rig.next()).fail(new Error('boom'));
    await core.turnEnded(sent, new AbortController().signal);
    const { faults } = await core.snapshot(created(id));
    faults.confirm();
    for (let n = 0; n < 3; n++) await core.snapshot(created(id));
    expect(asked).toBe(1);
  });
});
