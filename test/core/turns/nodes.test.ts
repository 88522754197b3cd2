import { afterEach, describe, expect, it } from '@jest/globals';
import { v4 as uuid } from 'uuid';
import { createMemoryStore } from '../../support/memory-store/store.js';
import type { Update } from '../../../src/core/model/update.js';
import type { Bus } from '../../../src/core/ports/bus.js';
import type { Store } from '../../../src/core/ports/store.js';
import {
  closeTestCores,
  collect,
  collectUntil,
  created,
  message,
  spoken,
  testCore,
} from '../../support/core.js';
import { FakeClock } from '../../support/fake-clock.js';
import { Gate } from '../../support/gate.js';
import { createMemoryBus } from '../../../src/adapters/bus/memory/bus.js';
import { joinedBuses, twoNodes } from '../../support/nodes.js';
import { ScriptedRig } from '../../support/scripted-rig.js';

afterEach(closeTestCores);

function titleIn(update: Update): string | undefined {
  return update.type === 'logged' && update.event.body.type === 'title_changed'
    ? update.event.body.title
    : undefined;
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
    const { owner, other, rig, clock } = twoNodes(
      (signal) => signal.type === type && (share === 'all' || n++ % 3 === 1),
    );
    await other.start();
    const sent = await owner.send(message(uuid(), 'Hi'));
    const feed = await other.watchTurn(sent);
    const asked = await rig.next();
    const words = Array.from({ length: 30 }, (_, index) => `${String(index)} `);
    asked.text(...words).end();
    const updates = await clock.passUntil(collect(feed));
    const texts = updates.flatMap((update) => (update.type === 'text' ? [update.content] : []));
    expect(texts.join('')).toBe(words.join(''));
    expect(updates.at(-1)).toMatchObject({ type: 'turn_ended', outcome: 'complete' });
  });

  it('streams its text within a second while the bus is down', async () => {
    const store = createMemoryStore();
    const clock = new FakeClock();
    const rig = new ScriptedRig();
    const [busA, busB] = joinedBuses(() => true).map((bus): Bus => ({ ...bus, isUp: false }));
    if (busA === undefined || busB === undefined) throw new Error('there are no buses');
    const settings = { mirrorMs: 0 };
    const { core: owner } = testCore({ rigs: [rig], store, clock, bus: busA, settings });
    const { core: other } = testCore({ rigs: [new ScriptedRig()], store, clock, bus: busB, settings });
    await Promise.all([owner.start(), other.start()]);
    const sent = await owner.send(message(uuid(), 'Hi'));
    const asked = await rig.next();
    const feed = await other.watchTurn(sent);
    let text = '';
    const ended = feed.each((update) => {
      if (update.type === 'text') text += update.content;
      return undefined;
    });
    let published = '';
    // At other moments than those of the timers.
    for (let n = 0; n < 40; n++) {
      published += `${String(n)} `;
      asked.text(`${String(n)} `);
      const due = published;
      await clock.advance(137);
      if (n % 8 !== 7) continue;
      await clock.advance(863);
      expect(text).toBe(due);
    }
    asked.end();
    await clock.passUntil(ended);
    expect(text).toBe(published);
  });

  it('shows its text in flight, by poll and by push', async () => {
    const { owner, other, rig, clock } = twoNodes();
    const id = uuid();
    await owner.send(message(id, 'Hi'));
    const asked = await rig.next();
    asked.text('Some words');
    // The owner stores its checkpoint about every half second.
    await clock.advance(600);
    expect(spoken(await other.snapshot(created(id)))).toEqual(['user: Hi', 'assistant~ Some words']);
    const feed = await other.updates(created(id), { after: null, turns: true });
    const begun = await collectUntil(feed, ({ type }) => type === 'text');
    expect(begun).toMatchObject([{ type: 'turn_started' }, { type: 'text', content: 'Some words' }]);
    asked.text(' more').end();
  });

  it('shows its text in flight also when it saw the turn before it was claimed from the queue', async () => {
    const store = createMemoryStore();
    const [rig, clock] = [new ScriptedRig(), new FakeClock()];
    const settings = { mirrorMs: 0 };
    const { core: first } = testCore({ rigs: [rig], store, clock, settings });
    const { core: other } = testCore({ rigs: [new ScriptedRig()], store, clock, settings });
    const id = uuid();
    await first.send(message(id, 'one'));
    await first.send(message(id, 'two'));
    const drained = first.drain(60_000);
    (await rig.next()).text('1').end();
    await clock.passUntil(drained);
    const waiting = await other.snapshot(created(id));
    const [claimed] = await store.claimAbandoned({ owner: 'third', milliseconds: 60_000 }, [], 1);
    if (claimed === undefined) throw new Error('the second turn was not claimed');
    await store.saveProgress(claimed, { messages: [], events: [], partialText: 'Hello' }, clock.now());
    await clock.advance(1_000);
    const shown = await other.snapshot(created(id));
    expect(spoken(shown)).toEqual(['user: one', 'assistant: 1', 'user: two', 'assistant~ Hello']);
    expect(shown.tag).not.toBe(waiting.tag);
  });

  it('interrupts it', async () => {
    const { owner, other, rig, clock } = twoNodes();
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
    await clock.passUntil(owner.close());
  });

  it('is answered about an interrupt when the owner has stored the end, though the bus carries nothing', async () => {
    const store = createMemoryStore();
    const rig = new ScriptedRig();
    const clock = new FakeClock();
    const settings = { mirrorMs: 60_000 };
    const { core: owner } = testCore({ rigs: [rig], store, clock, settings });
    const { core: other, log } = testCore({ rigs: [new ScriptedRig()], store, clock, settings });
    await owner.start();
    const id = uuid();
    await owner.send(message(id, 'Hi'));
    (await rig.next()).text('Some');
    expect(await clock.passUntil(other.interrupt(created(id)))).toBe(true);
    // It was not after all its patience that it looked into the store.
    expect(log.lines.filter((line) => line.includes('fenced off'))).toEqual([]);
    const ended = await other.snapshot(created(id));
    expect([ended.status, spoken(ended)]).toEqual(['interrupted', ['user: Hi', 'assistant: Some']]);
  });

  it('closes the request to the model at once when it deletes the session', async () => {
    const { owner, other, rig } = twoNodes();
    const id = uuid();
    await owner.send(message(id, 'Hi'));
    const asked = await rig.next();
    // The owner is not started: it renews no lease, and learns of the deletion by the bus alone.
    await other.deleteSession(id);
    await asked.left;
    expect(asked.signal.reason).toMatchObject({ stop: 'deleted' });
  });

  it('does not stop a turn or a stream of a session that was created again since its deletion', async () => {
    const rig = new ScriptedRig();
    const bus = createMemoryBus();
    const { core } = testCore({ rigs: [rig], bus });
    const id = uuid();
    await core.createSession({ sessionId: id });
    await core.deleteSession(id);
    const sent = await core.send(message(id, 'Hi'));
    const feed = await core.watchTurn(sent);
    const asked = await rig.next();
    // As from another node, late.
    bus.publish(id, { type: 'session_deleted' });
    asked.text('Hello');
    await new Promise(setImmediate);
    asked.end();
    expect((await collect(feed)).map(({ type }) => type)).not.toContain('cut');
    const { status, ...ended } = await core.snapshot(created(id));
    expect([status, spoken({ status, ...ended })]).toEqual(['idle', ['user: Hi', 'assistant: Hello']]);
  });

  it('is interrupted no earlier for a late signal that its id was deleted', async () => {
    const rig = new ScriptedRig();
    const bus = createMemoryBus();
    const memory = createMemoryStore();
    const ending = new Gate();
    const store: Store = {
      ...memory,
      async endTurn(turn, end) {
        await ending.passed;
        return memory.endTurn(turn, end);
      },
    };
    const { core } = testCore({ rigs: [rig], bus, store });
    const id = uuid();
    await core.send(message(id, 'Hi'));
    const asked = await rig.next();
    let isInterrupted = false;
    const interrupting = core.interrupt(created(id)).finally(() => (isInterrupted = true));
    await asked.left;
    bus.publish(id, { type: 'session_deleted' });
    for (let round = 0; round < 10; round++) await new Promise(setImmediate);
    const wasEarly = isInterrupted;
    ending.open();
    expect([await interrupting, wasEarly]).toEqual([true, false]);
    expect((await core.snapshot(created(id))).status).toBe('interrupted');
  });

  it('shows what another has acknowledged, also when it receives no signals', async () => {
    const { owner, other, rig } = twoNodes(() => true);
    const id = uuid();
    await other.createSession({ sessionId: id });
    const sent = await owner.send(message(id, 'Hi'));
    const begun = await other.snapshot(created(id));
    expect([begun.status, spoken(begun)]).toEqual(['processing', ['user: Hi']]);
    (await rig.next()).text('Hello').end();
    await owner.turnEnded(sent, new AbortController().signal);
    const ended = await other.snapshot(created(id));
    expect([ended.status, spoken(ended)]).toEqual(['idle', ['user: Hi', 'assistant: Hello']]);
  });

  it('does not keep the owner from making a title of the whole answer', async () => {
    const rig = new ScriptedRig();
    rig.titles = 'A title';
    const store = createMemoryStore();
    const { core: owner } = testCore({ rigs: [rig], store });
    const { core: other } = testCore({ rigs: [new ScriptedRig()], store });
    const id = uuid();
    const feed = await owner.updates(created(id), { after: null, turns: false });
    await owner.send(message(id, 'Hi'));
    const asked = await rig.next();
    // The owner gets no signal of it, so that its own commit does not follow the revision that it knows.
    await other.send(message(id, 'And'));
    asked.text('Hello').end();
    await collectUntil(feed, (update) => titleIn(update) === 'A title');
    const titled = rig.requests.filter(({ purpose }) => purpose === 'title');
    expect(titled.map(({ messages }) => messages.map(({ content }) => content))).toEqual([['Hi', 'Hello']]);
    await owner.close();
  });

  it('interrupts a turn of a session that it has read before there was one, without any signal', async () => {
    const { owner, other, rig, clock } = twoNodes(() => true);
    const id = uuid();
    expect((await other.snapshot(created(id))).status).toBe('idle');
    const sent = await owner.send(message(id, 'Hi'));
    (await rig.next()).text('Hello').end();
    await owner.turnEnded(sent, new AbortController().signal);
    await owner.send(message(id, 'Again'));
    await owner.send(message(id, 'And again'));
    expect(await clock.passUntil(other.interrupt(created(id)))).toBe(true);
    await clock.passUntil(owner.close());
  });
});

describe('a node that claims a queued turn which no other node has claimed', () => {
  it('requests it with the turn before it, whose end was not signaled', async () => {
    const store = createMemoryStore();
    const rigs = [new ScriptedRig(), new ScriptedRig()] as const;
    const [{ core: owner }, { core: other }] = [
      testCore({ rigs: [rigs[0]], store }),
      testCore({ rigs: [rigs[1]], store, settings: { mirrorMs: 60_000 } }),
    ];
    const id = uuid();
    await owner.send(message(id, 'Hi'));
    const first = await rigs[0].next();
    await other.snapshot(created(id));
    const queued = await other.send(message(id, 'And'));
    // A node that drains claims no turn.
    const drained = owner.drain(60_000);
    first.text('Hello').end();
    await drained;
    await other.start();
    const second = await rigs[1].next();
    expect(second.request.messages.map(({ content }) => content)).toEqual(['Hi', 'Hello', 'And']);
    second.text('Yes').end();
    await other.turnEnded(queued, new AbortController().signal);
    expect(spoken(await other.snapshot(created(id)))).toEqual([
      ...['user: Hi', 'assistant: Hello', 'user: And', 'assistant: Yes'],
    ]);
  });
});

describe('a node whose store responds slowly', () => {
  /** Two nodes, the second one's store wrapped. The bus carries nothing. */
  function withSlow(slow: (store: Store) => Partial<Store>) {
    const store = createMemoryStore();
    const settings = { mirrorMs: 0 };
    const rigs = [new ScriptedRig()];
    const { core: quick } = testCore({ rigs, store, settings });
    const { core: late } = testCore({ rigs, store: { ...store, ...slow(store) }, settings });
    return { quick, late };
  }

  it('shows what was acknowledged while it still read for somebody else', async () => {
    const [asked, answered] = [new Gate(), new Gate()];
    const { quick, late } = withSlow((store) => ({
      async loadThread(id) {
        const found = await store.loadThread(id);
        asked.open();
        await answered.passed;
        return found;
      },
    }));
    const id = uuid();
    await quick.createSession({ sessionId: id });
    const first = late.snapshot(created(id));
    await asked.passed;
    await quick.renameSession(id, 'New');
    const second = late.snapshot(created(id));
    answered.open();
    await first;
    expect((await second).session.title).toBe('New');
  });

  it('shows what was acknowledged after a write of its own of which it had no response', async () => {
    const [stored, saved, asked, answered] = [new Gate(), new Gate(), new Gate(), new Gate()];
    const own = { isStored: false };
    const { quick, late } = withSlow((store) => ({
      async saveSession(change) {
        const result = await store.saveSession(change);
        own.isStored = true;
        stored.open();
        await saved.passed;
        return result;
      },
      async revisionOf(id) {
        const revision = await store.revisionOf(id);
        if (!own.isStored) return revision;
        asked.open();
        await answered.passed;
        return revision;
      },
    }));
    const id = uuid();
    await quick.createSession({ sessionId: id });
    await late.getSession(id);
    const renaming = late.renameSession(id, 'Own');
    await stored.passed;
    await quick.renameSession(id, 'New');
    const seen = late.snapshot(created(id));
    await asked.passed;
    saved.open();
    await renaming;
    answered.open();
    expect((await seen).session.title).toBe('New');
  });
});

describe('a stream that the bus is slow to attach', () => {
  it.each([
    ['with a cursor', 1],
    ['without one', null],
  ])('shows nothing twice that is published while it opens, %s', async (_, after) => {
    const store = createMemoryStore();
    const [busA, busB] = joinedBuses(() => false);
    const attached = new Gate();
    const opened = new Gate();
    const slow: Bus = {
      ...busB,
      async subscribe(sessionId, listener) {
        const detach = await busB.subscribe(sessionId, listener);
        attached.open();
        await opened.passed;
        return detach;
      },
    };
    const { core: owner } = testCore({ rigs: [new ScriptedRig()], store, bus: busA });
    const { core: other } = testCore({ rigs: [new ScriptedRig()], store, bus: slow });
    const id = uuid();
    await owner.createSession({ sessionId: id });
    await owner.renameSession(id, 'One');
    const streaming = other.updates(created(id), { after, turns: false });
    await attached.passed;
    await owner.renameSession(id, 'Two');
    // What a stream that has begun too early would read before it knows where to begin.
    await new Promise((resolve) => setImmediate(resolve));
    opened.open();
    const feed = await streaming;
    await owner.renameSession(id, 'Three');
    const titles = await collectUntil(feed, (update) => titleIn(update) === 'Three');
    expect(titles.map(titleIn)).toEqual(['Two', 'Three']);
  });
});

describe('nodes that ask the store each time', () => {
  /** Two nodes without signals between them, so that only the store connects them. */
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
      [owner, other, owner, other, other].map(async (core) => core.snapshot(created(id))),
    );
    expect(taken.flatMap(({ faults }) => faults.events)).toHaveLength(1);
    expect((await owner.snapshot(created(id))).faults.events).toEqual([]);
    expect((await other.snapshot(created(id))).faults.events).toEqual([]);
    for (const { faults } of taken) faults.confirm();
    for (const core of [owner, other]) {
      expect((await core.snapshot(created(id))).faults.events).toEqual([]);
    }
  });

  it('is not carried again by a node that has known of it since before it was shown', async () => {
    const { owner, other, id } = await failed();
    await other.snapshot(created(id), { leavesFaults: true });
    const first = await owner.snapshot(created(id));
    expect(first.faults.events).toHaveLength(1);
    first.faults.confirm();
    expect((await other.snapshot(created(id))).faults.events).toEqual([]);
  });

  it('is carried by another node when the answer that had it was not sent', async () => {
    const { owner, other, id } = await failed();
    const first = await owner.snapshot(created(id));
    expect(first.faults.events).toHaveLength(1);
    first.faults.release();
    expect((await other.snapshot(created(id))).faults.events).toHaveLength(1);
  });

  it('is carried by another node when the one that had it died with it', async () => {
    const { owner, other, id, store } = await failed();
    // As by a node that claimed it and is no more.
    expect((await store.claimFaults(id, { owner: 'dead', milliseconds: -1 }, null)).faults).toHaveLength(1);
    expect((await other.snapshot(created(id))).faults.events).toHaveLength(1);
    expect((await owner.snapshot(created(id))).faults.events).toEqual([]);
  });

  it('costs snapshots without one no question to the store', async () => {
    const memory = createMemoryStore();
    let asked = 0;
    const store: Store = {
      ...memory,
      claimFaults(id, claim, lost) {
        asked++;
        return memory.claimFaults(id, claim, lost);
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
