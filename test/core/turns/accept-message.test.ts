import { afterEach, describe, expect, it } from '@jest/globals';
import { v4 as uuid } from 'uuid';
import { createMemoryStore } from '../../support/memory-store/store.js';
import { StoreUnavailableError, type Store } from '../../../src/core/ports/store.js';
import { closeTestCores, collectUntil, created, message, spoken, testCore } from '../../support/core.js';
import { Gate } from '../../support/gate.js';
import { joinedBuses, twoNodes } from '../../support/nodes.js';
import { ScriptedRig } from '../../support/scripted-rig.js';

afterEach(closeTestCores);

const never = new AbortController().signal;

/** A memory store that can delay the next message, or the next change of a session, until the test lets it pass. */
class HeldStore {
  readonly #memory = createMemoryStore();
  #message: Held | undefined;
  #change: Held | undefined;

  readonly store: Store = {
    ...this.#memory,
    acceptMessage: async (acceptance) => {
      const held = this.#message;
      this.#message = undefined;
      await held?.pass();
      return this.#memory.acceptMessage(acceptance);
    },
    saveSession: async (change) => {
      const held = this.#change;
      this.#change = undefined;
      await held?.pass();
      return this.#memory.saveSession(change);
    },
  };

  /** @param error what the write fails with once the gate is open; absent: it succeeds */
  holdMessage(error?: Error): Held {
    return (this.#message = new Held(error));
  }

  holdChange(): Held {
    return (this.#change = new Held());
  }
}

class Held {
  readonly begun = new Gate();
  readonly gate = new Gate();

  constructor(private readonly error?: Error) {}

  async pass(): Promise<void> {
    this.begun.open();
    await this.gate.passed;
    if (this.error !== undefined) throw this.error;
  }
}

function heldCore() {
  const held = new HeldStore();
  const rig = new ScriptedRig();
  return { held, rig, ...testCore({ rigs: [rig], store: held.store }) };
}

describe('accepting a message', () => {
  it('asks the rig only after the message is stored', async () => {
    const { core, held, rig } = heldCore();
    const { begun, gate } = held.holdMessage();
    const sending = core.send(message(uuid(), 'Hello'));
    await begun.passed;
    for (let round = 0; round < 5; round++) await new Promise(setImmediate);
    expect(rig.asked).toEqual([]);
    gate.open();
    (await rig.next()).text('Yes').end();
    const sent = await sending;
    await core.turnEnded(sent, never);
    expect(spoken(await core.snapshot(created(sent.sessionId)))).toEqual(['user: Hello', 'assistant: Yes']);
  });

  it('asks no rig when the store fails', async () => {
    const { core, held, rig } = heldCore();
    held.holdMessage(new StoreUnavailableError('the disk is full')).gate.open();
    await expect(core.send(message(uuid(), 'Hello'))).rejects.toThrow(StoreUnavailableError);
    expect(rig.asked).toEqual([]);
  });

  it('asks the rig once for the first message to a deleted id', async () => {
    const { core, rig } = heldCore();
    const id = uuid();
    const first = await core.send(message(id, 'One'));
    (await rig.next()).text('1').end();
    await core.turnEnded(first, never);
    await core.deleteSession(id);

    const again = await core.send(message(id, 'Two'));
    (await rig.next()).text('2').end();
    await core.turnEnded(again, never);
    expect(rig.asked.map(({ request }) => request.messages)).toEqual([
      [{ role: 'user', content: 'One' }],
      [{ role: 'user', content: 'Two' }],
    ]);
    expect(spoken(await core.snapshot(created(id)))).toEqual(['user: Two', 'assistant: 2']);
  });

  it('asks once, with the messages that another node stored first', async () => {
    const held = new HeldStore();
    const [busA, busB] = joinedBuses(() => false);
    const [rigA, rigB] = [new ScriptedRig(), new ScriptedRig()];
    const { core: slow } = testCore({ rigs: [rigA], store: held.store, bus: busA });
    const { core: quick } = testCore({ rigs: [rigB], store: held.store, bus: busB });
    const id = uuid();
    await slow.createSession({ sessionId: id });
    await slow.renameSession(id, 'Mine');

    const { begun, gate } = held.holdMessage();
    const late = slow.send(message(id, 'Two'));
    await begun.passed;
    const between = quick.send(message(id, 'One'));
    (await rigB.next()).text('1').end();
    await quick.turnEnded(await between, never);
    gate.open();
    const sent = await late;
    const asked = await rigA.next();
    expect(asked.request.messages.map(({ content }) => content)).toEqual(['One', '1', 'Two']);
    asked.text('2').end();
    await slow.turnEnded(sent, never);
    expect(rigA.asked).toHaveLength(1);
  });

  it('succeeds when the title of the session is stored at the same time', async () => {
    const { core, held, rig } = heldCore();
    const id = uuid();
    const titles = await core.updates(created(id), { after: null, turns: false });
    const thinking = rig.holdTitles();
    rig.titles = 'About numbers';
    const first = await core.send(message(id, 'One'));
    (await rig.next()).text('1').end();
    await core.turnEnded(first, never);

    const title = held.holdChange();
    thinking.open();
    await title.begun.passed;
    const second = held.holdMessage();
    const sending = core.send(message(id, 'Two'));
    await second.begun.passed;
    title.gate.open();
    await collectUntil(titles, ({ type }) => type === 'logged');
    second.gate.open();
    (await rig.next()).text('2').end();
    await core.turnEnded(await sending, never);
    expect(rig.asked).toHaveLength(2);
    const snapshot = await core.snapshot(created(id));
    expect(snapshot.session.title).toBe('About numbers');
    expect(spoken(snapshot)).toEqual(['user: One', 'assistant: 1', 'user: Two', 'assistant: 2']);
  });
});

describe('the user state of a message', () => {
  /** Two of these fit into a session, three do not. */
  const large = (key: string) => ({ [key]: 'x'.repeat(30_000) });

  it('is not held against the repeat of an accepted message', async () => {
    const { core, rig } = heldCore();
    const session = uuid();
    const once = { ...message(session, 'Hello'), userState: large('a'), idempotencyKey: 'once' };
    const sent = await core.send(once);
    (await rig.next()).text('Yes').end();
    await core.turnEnded(sent, never);
    await core.snapshot(created(session), { userState: { a: null, ...large('b'), ...large('c') } });

    await expect(core.send(once)).resolves.toEqual({ ...sent, repeated: true });
    await expect(core.send({ ...once, idempotencyKey: 'twice' })).rejects.toThrow(/at most 65536 bytes/);
    expect(rig.asked).toHaveLength(1);
  });

  it('is held against the newest state, whichever node has stored it', async () => {
    const { owner, other, rig } = twoNodes();
    const session = uuid();
    await owner.createSession({ sessionId: session });
    await owner.snapshot(created(session), { userState: { ...large('b'), ...large('c') } });
    await other.snapshot(created(session), { userState: { b: null } });

    const sent = await owner.send({ ...message(session, 'Hello'), userState: large('a') });
    (await rig.next()).text('Yes').end();
    await owner.turnEnded(sent, never);
  });
});
