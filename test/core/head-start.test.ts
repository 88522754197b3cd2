import { afterEach, describe, expect, it } from '@jest/globals';
import { v4 as uuid } from 'uuid';
import { createMemoryStore } from '../../src/adapters/memory/store.js';
import type { SendRequest } from '../../src/core/core.js';
import { RigError } from '../../src/core/ports.js';
import { NO_LIMITS } from '../../src/core/quota.js';
import type { CoreSettings } from '../../src/core/settings.js';
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
import { Gate } from '../support/gate.js';
import { joinedBuses } from '../support/nodes.js';
import { ScriptedRig } from '../support/scripted-rig.js';

afterEach(closeTestCores);

const never = new AbortController().signal;

/** A memory store that can hold messages, and changes of a session, back before it takes them. */
class HeldStore {
  readonly #memory = createMemoryStore();
  #held: { readonly begun: Gate; readonly gate: Gate; readonly fails: boolean } | undefined;
  #heldChange: { readonly begun: Gate; readonly gate: Gate } | undefined;

  readonly store: Store = {
    ...this.#memory,
    acceptMessage: async (acceptance) => {
      const held = this.#held;
      this.#held = undefined;
      held?.begun.open();
      await held?.gate.passed;
      if (held?.fails === true) throw new StoreUnavailableError('the disk is full');
      return this.#memory.acceptMessage(acceptance);
    },
    saveSession: async (change) => {
      const held = this.#heldChange;
      this.#heldChange = undefined;
      held?.begun.open();
      await held?.gate.passed;
      return this.#memory.saveSession(change);
    },
  };

  /** The next change of a session waits, like the next message in `hold`. */
  holdChange(): { readonly begun: Promise<void>; readonly gate: Gate } {
    const held = { begun: new Gate(), gate: new Gate() };
    this.#heldChange = held;
    return { begun: held.begun.passed, gate: held.gate };
  }

  /** The next message waits. `begun` says that it does, `gate` lets it through; with `fails` it is not taken then. */
  hold(fails = false): { readonly begun: Promise<void>; readonly gate: Gate } {
    const held = { begun: new Gate(), gate: new Gate(), fails };
    this.#held = held;
    return { begun: held.begun.passed, gate: held.gate };
  }
}

function heldCore(settings: Partial<CoreSettings> = {}) {
  const held = new HeldStore();
  const rig = new ScriptedRig();
  return { held, rig, ...testCore({ rigs: [rig], store: held.store, settings }) };
}

/** A session with a title of its own: none is made, and stored, between its messages. */
async function titledSession({ core }: ReturnType<typeof testCore>): Promise<string> {
  const id = uuid();
  await core.createSession({ sessionId: id });
  await core.renameSession(id, 'Mine');
  return id;
}

describe('a message that is being stored', () => {
  it('is asked meanwhile; of the answer nothing shows before it is stored, and nothing is lost', async () => {
    const { core, held, rig } = heldCore();
    const id = uuid();
    const { begun, gate } = held.hold();
    const sending = core.send(message(id, 'Hello', { wallet: '0x52908400098527886E0F7030069857D2E4169EE7' }));
    await begun;
    const asked = await rig.next();
    expect(asked.request.messages).toEqual([{ role: 'user', content: 'Hello' }]);
    expect(asked.request.instructions).toContain('0x52908400098527886e0f7030069857d2e4169ee7');
    asked.text('Good ', 'day').end();
    expect(spoken(await core.snapshot(created(id)))).toEqual([]);
    gate.open();
    const sent = await sending;
    const updates = await collect(await core.watchTurn(sent));
    expect(updates.flatMap((update) => (update.type === 'text' ? [update.content] : [])).join('')).toBe(
      'Good day',
    );
    expect(spoken(await core.snapshot(created(id)))).toEqual(['user: Hello', 'assistant: Good day']);
    expect(rig.asked).toHaveLength(1);
  });

  it('is asked again when the early question failed for the moment', async () => {
    const { core, rig } = heldCore();
    const sending = core.send(message(uuid(), 'Hello'));
    (await rig.next()).fail(new RigError('busy', { retryable: true, retryAfterMs: 0 }));
    const sent = await sending;
    (await rig.next()).text('Here').end();
    await core.turnEnded(sent, never);
    expect(spoken(await core.snapshot(created(sent.sessionId)))).toEqual(['user: Hello', 'assistant: Here']);
  });

  it('is interrupted like any other once it is stored', async () => {
    const { core, held, rig } = heldCore();
    const { begun, gate } = held.hold();
    const sending = core.send(message(uuid(), 'Hello'));
    await begun;
    const asked = await rig.next();
    gate.open();
    const sent = await sending;
    await core.interrupt(created(sent.sessionId));
    await core.turnEnded(sent, never);
    await asked.left;
    expect(asked.signal.aborted).toBe(true);
    expect((await core.snapshot(created(sent.sessionId))).status).toBe('interrupted');
  });

  it('lets go of the question when the store fails, and asks none early before the store is well', async () => {
    const service = heldCore();
    const { core, held, rig } = service;
    const id = await titledSession(service);
    const failing = held.hold(true);
    const refused = core.send(message(id, 'One'));
    const dropped = await rig.next();
    failing.gate.open();
    await expect(refused).rejects.toThrow(StoreUnavailableError);
    await dropped.left;
    expect(dropped.signal.aborted).toBe(true);

    const careful = held.hold();
    const second = core.send(message(id, 'Two'));
    await careful.begun;
    expect(rig.asked).toHaveLength(1);
    careful.gate.open();
    (await rig.next()).text('Yes').end();
    await core.turnEnded(await second, never);

    const again = held.hold();
    const third = core.send(message(id, 'Three'));
    await again.begun;
    expect(rig.asked).toHaveLength(3);
    again.gate.open();
    (await rig.next()).text('Well').end();
    await core.turnEnded(await third, never);
    expect(spoken(await core.snapshot(created(id)))).toEqual([
      ...['user: Two', 'assistant: Yes'],
      ...['user: Three', 'assistant: Well'],
    ]);
  });

  it('is asked anew, with what was said meanwhile, when another node was quicker', async () => {
    const held = new HeldStore();
    const [busA, busB] = joinedBuses(() => false);
    const [rigA, rigB] = [new ScriptedRig(), new ScriptedRig()];
    const service = testCore({ rigs: [rigA], store: held.store, bus: busA });
    const { core: slow } = service;
    const { core: quick } = testCore({ rigs: [rigB], store: held.store, bus: busB });
    const id = await titledSession(service);
    const first = slow.send(message(id, 'One'));
    (await rigA.next()).text('1').end();
    await slow.turnEnded(await first, never);

    const { begun, gate } = held.hold();
    const late = slow.send(message(id, 'Three'));
    await begun;
    const early = await rigA.next();
    const between = quick.send(message(id, 'Two'));
    (await rigB.next()).text('2').end();
    await quick.turnEnded(await between, never);
    gate.open();
    const sent = await late;
    await early.left;
    const asked = await rigA.next();
    expect(asked.request.messages.map(({ content }) => content)).toEqual(['One', '1', 'Two', '2', 'Three']);
    asked.text('3').end();
    await slow.turnEnded(sent, never);
    expect(spoken(await slow.snapshot(created(id))).at(-1)).toBe('assistant: 3');
  });
});

describe('a message and a title of one session', () => {
  /** A session with one turn, whose title the rig still thinks about. */
  async function untitled() {
    const service = heldCore();
    const { core, rig } = service;
    const id = uuid();
    const titles = await core.updates(created(id), { after: null, turns: false });
    const first = await core.send(message(id, 'One'));
    const thinking = rig.holdTitles();
    rig.titles = 'About numbers';
    (await rig.next()).text('1').end();
    await core.turnEnded(first, never);
    const titled = () => collectUntil(titles, ({ type }) => type === 'logged');
    return { ...service, id, thinking, titled };
  }

  it('are not stored side by side: the title waits, so that the early question stays right', async () => {
    const { core, held, rig, id, thinking, titled } = await untitled();
    const { begun, gate } = held.hold();
    const change = held.holdChange();
    const sending = core.send(message(id, 'Two'));
    await begun;
    const early = await rig.next();
    let isStored = false;
    void change.begun.then(() => (isStored = true));
    thinking.open();
    for (let round = 0; round < 5; round++) await new Promise(setImmediate);
    expect(isStored).toBe(false);
    gate.open();
    const sent = await sending;
    await change.begun;
    change.gate.open();
    await titled();
    early.text('2').end();
    await core.turnEnded(sent, never);
    expect(early.signal.aborted).toBe(false);
    expect(rig.asked).toHaveLength(2);
    const { session } = await core.snapshot(created(id));
    expect(session.title).toBe('About numbers');
  });

  it('are not stored side by side: the message waits, and is asked early then', async () => {
    const { core, held, rig, id, thinking, titled } = await untitled();
    const change = held.holdChange();
    thinking.open();
    await change.begun;
    const { begun, gate } = held.hold();
    let isStored = false;
    void begun.then(() => (isStored = true));
    const sending = core.send(message(id, 'Two'));
    for (let round = 0; round < 5; round++) await new Promise(setImmediate);
    expect([isStored, rig.asked.length]).toEqual([false, 1]);
    change.gate.open();
    await titled();
    await begun;
    const early = await rig.next();
    gate.open();
    early.text('2').end();
    await core.turnEnded(await sending, never);
    expect(early.signal.aborted).toBe(false);
    expect(rig.asked).toHaveLength(2);
  });
});

describe('a message that may not be worked on at once', () => {
  const limits = { session: { ...NO_LIMITS, turnsPerDay: 5 }, key: NO_LIMITS };

  it.each<[string, Partial<SendRequest>, Partial<CoreSettings>]>([
    ['with an Idempotency-Key', { idempotencyKey: 'a-key' }, {}],
    ['under a quota', {}, { limits }],
  ])('is not asked before it is stored: %s', async (_, fields, settings) => {
    const { core, held, rig } = heldCore(settings);
    const { begun, gate } = held.hold();
    const sending = core.send(message(uuid(), 'Hello', fields));
    await begun;
    expect(rig.asked).toEqual([]);
    gate.open();
    (await rig.next()).text('Yes').end();
    await core.turnEnded(await sending, never);
  });

  it('is not asked before it is stored: behind a turn that runs', async () => {
    const { core, held, rig } = heldCore();
    const id = uuid();
    await core.send(message(id, 'One'));
    const first = await rig.next();
    const { begun, gate } = held.hold();
    const sending = core.send(message(id, 'Two'));
    await begun;
    expect(rig.asked).toHaveLength(1);
    gate.open();
    const sent = await sending;
    first.text('1').end();
    (await rig.next()).text('2').end();
    await core.turnEnded(sent, never);
  });
});
