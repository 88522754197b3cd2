import { afterEach, describe, expect, it } from '@jest/globals';
import { v4 as uuid } from 'uuid';
import { createMemoryBus } from '../../../src/adapters/bus/memory/bus.js';
import { createMemoryStore } from '../../support/memory-store/store.js';
import type { Tool } from '../../../src/core/ports/tool.js';
import type { Store } from '../../../src/core/ports/store.js';
import { closeTestCores, collectUntil, created, message, spoken, testCore } from '../../support/core.js';
import { ScriptedRig } from '../../support/scripted-rig.js';

afterEach(closeTestCores);

const never = new AbortController().signal;

/** A door that is open until it is shut. */
class Door {
  #open: () => void = () => undefined;
  #passage: Promise<void> = Promise.resolve();
  #arrive: () => void = () => undefined;
  arrived: Promise<void> = Promise.resolve();

  shut(): void {
    this.#passage = new Promise((resolve) => (this.#open = resolve));
    this.arrived = new Promise((resolve) => (this.#arrive = resolve));
  }

  open(): void {
    this.#open();
  }

  async pass(): Promise<void> {
    this.#arrive();
    await this.#passage;
  }
}

const quick: Tool = {
  ...{ name: 'quick', description: '', parameters: { type: 'object' }, timeoutMs: null, sideEffects: 'none' },
  run: () => Promise.resolve('ok'),
};

/** A store, and the sessions that were loaded from it. */
function storeThatTellsLoads(): { readonly store: Store; readonly loaded: readonly string[] } {
  const memory = createMemoryStore();
  const loaded: string[] = [];
  const store: Store = {
    ...memory,
    loadThread(id) {
      loaded.push(id);
      return memory.loadThread(id);
    },
  };
  return { store, loaded };
}

describe('a session that is made', () => {
  it('is not looked up first when memory does not know it', async () => {
    const { store, loaded } = storeThatTellsLoads();
    const { core } = testCore({ rigs: [new ScriptedRig()], store });
    expect(await core.createSession({ sessionId: uuid() })).toMatchObject({ created: true });
    expect(loaded).toEqual([]);
  });

  it('stays as it is when it is stored, whether memory knows it or not', async () => {
    const store = createMemoryStore();
    const start = () => testCore({ rigs: [new ScriptedRig()], store }).core;
    const [one, other] = [start(), start()];
    const sessionId = uuid();
    await one.createSession({ sessionId });
    await one.renameSession(sessionId, 'A title');
    const before = await store.loadThread(sessionId);
    for (const core of [other, other, one]) {
      const again = await core.createSession({ sessionId });
      expect(again).toMatchObject({ created: false, session: { title: 'A title' } });
    }
    expect(await store.loadThread(sessionId)).toEqual(before);
  });

  it('is made once by two requests at the same time', async () => {
    const { core } = testCore({ rigs: [new ScriptedRig()] });
    const sessionId = uuid();
    const made = await Promise.all([core.createSession({ sessionId }), core.createSession({ sessionId })]);
    expect(made.map((one) => one.created).sort()).toEqual([false, true]);
  });
});

describe('what memory holds', () => {
  it('is bounded: sessions that were used longest ago are read again, others are not', async () => {
    const { store, loaded } = storeThatTellsLoads();
    const { core } = testCore({ rigs: [new ScriptedRig()], store });
    const ids = Array.from({ length: 10_001 }, () => uuid());
    for (const sessionId of ids) await core.createSession({ sessionId });
    const [oldest = '', newest = ''] = [ids[0], ids.at(-1)];
    for (const id of [newest, oldest]) await core.snapshot(created(id));
    expect(loaded).toEqual([oldest]);
  });
});

describe('a snapshot', () => {
  it('stays as it was when the turn in it ends before it is encoded', async () => {
    const rig = new ScriptedRig();
    const { core } = testCore({ rigs: [rig], tools: [quick] });
    const id = uuid();
    const sent = await core.send(message(id, 'Hi'));
    (await rig.next()).text('Let me see.').call('c1', 'quick').end();
    const last = await rig.next();
    const watched = await core.updates(created(id), { after: null, turns: true });
    last.text('Done');
    await collectUntil(watched, (update) => update.type === 'text' && update.content === 'Done');
    const snapshot = await core.snapshot(created(id));
    const before = ['user: Hi', 'assistant: Let me see.', 'quick = "ok"', 'assistant~ Done'];
    expect(spoken(snapshot)).toEqual(before);
    const ended = core.turnEnded(sent, never);
    last.text('.').end();
    await ended;
    expect(spoken(await core.snapshot(created(id)))).toEqual([...before.slice(0, 3), 'assistant: Done.']);
    expect(spoken(snapshot)).toEqual(before);
  });
});

describe('the mirror', () => {
  it('is not set back by a read that is older than a commit', async () => {
    const memory = createMemoryStore();
    const door = new Door();
    const store: Store = {
      ...memory,
      async loadThread(id) {
        const found = await memory.loadThread(id);
        await door.pass();
        return found;
      },
    };
    const rig = new ScriptedRig();
    const { core } = testCore({ rigs: [rig], store, tools: [quick] });
    const other = testCore({ rigs: [rig], store: memory });
    const id = uuid();
    const sent = await core.send(message(id, 'Hi'));
    const first = await rig.next();
    // Leaves a hole in the revisions that the first core sees: its mirror is stale from the next step on.
    await other.core.renameSession(id, 'A title');
    first.text('Let me see.').call('c1', 'quick').end();
    const second = await rig.next();
    door.shut();
    const reading = core.touch(created(id));
    await door.arrived;
    const ended = core.turnEnded(sent, never);
    second.text('Done.').end();
    await ended;
    door.open();
    await reading;
    const snapshot = await core.snapshot(created(id));
    expect([snapshot.status, snapshot.session.title, spoken(snapshot).at(-1)]).toEqual([
      'idle',
      'A title',
      'assistant: Done.',
    ]);
  });

  it('shows a message that was accepted while a read of nothing was under way', async () => {
    const memory = createMemoryStore();
    const door = new Door();
    const store: Store = {
      ...memory,
      async loadThread(id) {
        const found = await memory.loadThread(id);
        await door.pass();
        return found;
      },
    };
    const { core } = testCore({ rigs: [new ScriptedRig()], store });
    const id = uuid();
    door.shut();
    const sending = core.send(message(id, 'Hi'));
    const reading = core.snapshot(created(id));
    await door.arrived;
    door.open();
    await Promise.all([sending, reading]);
    expect(spoken(await core.snapshot(created(id)))).toEqual(['user: Hi']);
  });

  it('takes a write that changed nothing for what it is', async () => {
    const memory = createMemoryStore();
    const door = new Door();
    const store: Store = {
      ...memory,
      async endTurn(...args) {
        const ended = await memory.endTurn(...args);
        await door.pass();
        return ended;
      },
    };
    const rig = new ScriptedRig();
    const { core } = testCore({ rigs: [rig], store });
    const id = uuid();
    await core.selectRig({ session: created(id), rig: rig.id, key: undefined });
    const sent = await core.send(message(id, 'Hi'));
    door.shut();
    (await rig.next()).text('Hello').end();
    await door.arrived;
    await core.selectRig({ session: created(id), rig: rig.id, key: undefined });
    const ended = core.turnEnded(sent, never);
    door.open();
    await ended;
    const snapshot = await core.snapshot(created(id));
    expect([snapshot.status, ...spoken(snapshot)]).toEqual(['idle', 'user: Hi', 'assistant: Hello']);
  });

  it('shows a step once while its end is between the store and the mirror', async () => {
    const memory = createMemoryStore();
    const door = new Door();
    const store: Store = {
      ...memory,
      async saveProgress(turn, progress, at) {
        const saved = await memory.saveProgress(turn, progress, at);
        if (progress.messages.length > 0) await door.pass();
        return saved;
      },
    };
    const rig = new ScriptedRig();
    const { core } = testCore({ rigs: [rig], store, tools: [quick] });
    const id = uuid();
    const sent = await core.send(message(id, 'Hi'));
    door.shut();
    (await rig.next()).text('Let me see.').call('c1', 'quick').end();
    await door.arrived;
    await core.renameSession(id, 'New title');
    expect(spoken(await core.snapshot(created(id)))).toEqual(['user: Hi', 'assistant: Let me see.']);
    door.open();
    (await rig.next()).text('Done.').end();
    await core.turnEnded(sent, never);
  });

  it('of another node is read again when a change is announced', async () => {
    const [store, bus, rig] = [createMemoryStore(), createMemoryBus(), new ScriptedRig()];
    const one = testCore({ rigs: [rig], store, bus });
    const two = testCore({ rigs: [rig], store, bus });
    const id = uuid();
    const sent = await one.core.send(message(id, 'Hi'));
    const asked = await rig.next();
    expect((await two.core.snapshot(created(id))).status).toBe('processing');
    const waiting = two.core.turnEnded(sent, never);
    asked.text('Hello').end();
    await waiting;
    const snapshot = await two.core.snapshot(created(id));
    expect([snapshot.status, ...spoken(snapshot)]).toEqual(['idle', 'user: Hi', 'assistant: Hello']);
  });

  it('of another node shows an interrupted turn as ended', async () => {
    const [store, bus, rig] = [createMemoryStore(), createMemoryBus(), new ScriptedRig()];
    const one = testCore({ rigs: [rig], store, bus });
    const two = testCore({ rigs: [rig], store, bus });
    const id = uuid();
    await one.core.send(message(id, 'Hi'));
    (await rig.next()).text('Hel');
    await two.core.snapshot(created(id));
    expect(await two.core.interrupt(created(id))).toBe(true);
    const snapshot = await two.core.snapshot(created(id));
    expect([snapshot.status, ...spoken(snapshot)]).toEqual(['interrupted', 'user: Hi', 'assistant: Hel']);
  });

  it('is checked before a turn is taken over: no finished call is made again', async () => {
    const [store, bus, rig] = [createMemoryStore(), createMemoryBus(), new ScriptedRig()];
    const one = testCore({ rigs: [rig], store, bus, tools: [quick] });
    const two = testCore({ rigs: [rig], store, bus, tools: [quick] });
    const id = uuid();
    await one.core.send(message(id, 'Hi'));
    const first = await rig.next();
    await two.core.snapshot(created(id));
    first.call('c1', 'quick').end();
    await rig.next();
    await one.core.drain(0);
    await two.core.start();
    const again = await rig.next();
    expect(again.request.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', toolResults: [{ callId: 'c1', result: 'ok' }] },
    ]);
    again.text('Done.').end();
    await two.core.drain(5_000);
  });
});

describe('an interrupt', () => {
  function slowEnds() {
    const memory = createMemoryStore();
    const door = new Door();
    const store: Store = {
      ...memory,
      async endTurn(...args) {
        const ended = await memory.endTurn(...args);
        await door.pass();
        return ended;
      },
    };
    const rig = new ScriptedRig();
    return { door, rig, ...testCore({ rigs: [rig], store }) };
  }

  it('is final when the turn has just ended by itself', async () => {
    const { door, rig, core } = slowEnds();
    const id = uuid();
    await core.send(message(id, 'Hi'));
    door.shut();
    (await rig.next()).text('Hello').end();
    await door.arrived;
    const interrupting = core.interrupt(created(id));
    setImmediate(() => {
      door.open();
    });
    expect(await interrupting).toBe(false);
    const snapshot = await core.snapshot(created(id));
    expect([snapshot.status, ...spoken(snapshot)]).toEqual(['idle', 'user: Hi', 'assistant: Hello']);
  });

  it('stops a turn that is claimed and not begun before its rig is asked', async () => {
    const { door, rig, core } = slowEnds();
    const id = uuid();
    await core.send(message(id, 'One'));
    await core.send(message(id, 'Two'));
    door.shut();
    (await rig.next()).text('First.').end();
    await door.arrived;
    const interrupting = core.interrupt(created(id));
    setImmediate(() => {
      door.open();
    });
    expect(await interrupting).toBe(true);
    expect(rig.asked).toHaveLength(1);
    const snapshot = await core.snapshot(created(id));
    expect([snapshot.status, ...spoken(snapshot)]).toEqual([
      'interrupted',
      'user: One',
      'assistant: First.',
      'user: Two',
    ]);
  });
});

describe('a fault', () => {
  it('goes out once, though the thread is read again before the store has noted it', async () => {
    const memory = createMemoryStore();
    const door = new Door();
    const store: Store = {
      ...memory,
      async markFaultsShown(id, n) {
        await door.pass();
        await memory.markFaultsShown(id, n);
      },
    };
    const rig = new ScriptedRig();
    const { core } = testCore({ rigs: [rig], store });
    const id = uuid();
    const sent = await core.send(message(id, 'Hi'));
    (await rig.next()).fail(new Error('boom'));
    await core.turnEnded(sent, never);
    door.shut();
    const first = await core.snapshot(created(id));
    expect(first.faults.events).toHaveLength(1);
    first.faults.confirm();
    const next = await core.send(message(id, 'Again'));
    (await rig.next()).fail(new Error('boom'));
    await core.turnEnded(next, never);
    const second = await core.snapshot(created(id));
    expect(second.faults.events).toHaveLength(1);
    second.faults.release();
    door.open();
    await new Promise((resolve) => setImmediate(resolve));
    const third = await core.snapshot(created(id));
    expect(third.faults.events).toHaveLength(1);
  });
});

describe('an automatic title', () => {
  it('is given up when its thread was deleted first, and a new one has its id', async () => {
    const memory = createMemoryStore();
    let saves = 0;
    const store: Store = {
      ...memory,
      saveSession(change) {
        saves++;
        return memory.saveSession(change);
      },
    };
    const door = new Door();
    class SlowTitles extends ScriptedRig {
      override async respond(...[request, ...others]: Parameters<ScriptedRig['respond']>) {
        if (request.purpose === 'title') await door.pass();
        await super.respond(request, ...others);
      }
    }
    const rig = new SlowTitles();
    rig.titles = 'About the old one';
    const { core } = testCore({ rigs: [rig], store });
    const id = uuid();
    const sent = await core.send(message(id, 'Hi'));
    door.shut();
    (await rig.next()).text('Hello').end();
    await core.turnEnded(sent, never);
    await door.arrived;
    await core.deleteSession(id);
    await core.send(message(id, 'Something new'));
    door.open();
    for (let n = 0; n < 200; n++) await new Promise((resolve) => setImmediate(resolve));
    expect(saves).toBeLessThan(3);
    expect((await core.getSession(id)).title).toBe('New Chat');
    (await rig.next()).text('x').end();
  });
});
