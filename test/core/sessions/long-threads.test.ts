import { afterEach, describe, expect, it } from '@jest/globals';
import { v4 as uuid } from 'uuid';
import { failuresIn } from '../../../src/core/model/message.js';
import { StoreUnavailableError, type Store } from '../../../src/core/ports/store.js';
import type { Tool } from '../../../src/core/ports/tool.js';
import { end, record, sendAndClaim } from '../../contracts/store-fixtures.js';
import { FakeClock } from '../../support/fake-clock.js';
import { Gate } from '../../support/gate.js';
import { closeTestCores, collect, created, message, spoken, testCore } from '../../support/core.js';
import { createMemoryStore } from '../../support/memory-store/store.js';
import { ScriptedRig } from '../../support/scripted-rig.js';

afterEach(closeTestCores);

const TURNS = 500;

const quick: Tool = {
  ...{ name: 'quick', description: '', parameters: { type: 'object' }, timeoutMs: null, sideEffects: 'none' },
  run: () => Promise.resolve('ok'),
};

/** A store with a thread of 500 turns, and how many records were read from it. */
async function storeWithLongThread() {
  const memory = createMemoryStore();
  const id = uuid();
  await addTurns(memory, id, 1, TURNS);
  const read = { records: 0 };
  const store: Store = {
    ...memory,
    async loadThread(...asked) {
      const thread = await memory.loadThread(...asked);
      if (typeof thread !== 'string') read.records += thread.settled.length;
      return thread;
    },
    async readMessages(...asked) {
      const page = await memory.readMessages(...asked);
      if (page !== 'unknown_message') read.records += page.messages.length;
      return page;
    },
  };
  return { id, memory, read, store };
}

async function addTurns(store: Store, id: string, from: number, to: number): Promise<void> {
  for (let no = from; no <= to; no++) {
    const turn = await sendAndClaim(store, id, { text: `question ${String(no)}` });
    await end(store, turn, { messages: [record(turn, 1, { content: `answer ${String(no)}` })] });
  }
}

describe('a thread of 1,000 records', () => {
  async function turn(
    core: ReturnType<typeof testCore>['core'],
    rig: ScriptedRig,
    id: string,
  ): Promise<number> {
    const sent = await core.send(message(id, 'next'));
    const feed = await core.watchTurn(sent);
    const asked = await rig.next();
    asked.text('done').end();
    await collect(feed);
    return asked.request.messages.length;
  }

  it('is not read as a whole for a turn, if the context window is smaller', async () => {
    const { id, read, store } = await storeWithLongThread();
    const rig = new ScriptedRig('small', 1_000);
    const { core } = testCore({ rigs: [rig], store });
    const prompts = await turn(core, rig, id);
    expect(prompts).toBeGreaterThan(50);
    expect(read.records).toBe(200);
    await turn(core, rig, id);
    expect(read.records).toBe(200);
  });

  it('is read for a turn until the context window is full, or to its beginning', async () => {
    const { id, read, store } = await storeWithLongThread();
    const rig = new ScriptedRig('medium', 4_000);
    const { core } = testCore({ rigs: [rig], store });
    expect(await turn(core, rig, id)).toBeGreaterThan(250);
    expect(read.records).toBe(700);
    const large = new ScriptedRig('large', 1_000_000);
    const { core: other } = testCore({ rigs: [large], store });
    expect(await turn(other, large, id)).toBe(2 * TURNS + 3);
  });

  it('is read again from its newest turns on after another process wrote to it', async () => {
    const { id, memory, read, store } = await storeWithLongThread();
    const { core } = testCore({ rigs: [new ScriptedRig()], store, settings: { mirrorMs: 0 } });
    const before = spoken(await core.snapshot(created(id)));
    expect(before).toHaveLength(2 * TURNS);
    read.records = 0;
    await addTurns(memory, id, TURNS + 1, TURNS + 3);
    const after = spoken(await core.snapshot(created(id)));
    expect(after.slice(0, 2 * TURNS)).toEqual(before);
    expect(after.slice(2 * TURNS)).toEqual(
      [1, 2, 3].flatMap((n) => [
        `user: question ${String(TURNS + n)}`,
        `assistant: answer ${String(TURNS + n)}`,
      ]),
    );
    expect(read.records).toBe(6);
  });

  it('is shown as a whole although only its end was in memory', async () => {
    const { id, store } = await storeWithLongThread();
    const rig = new ScriptedRig('small', 1_000);
    const { core } = testCore({ rigs: [rig], store });
    await turn(core, rig, id);
    const tail = await core.snapshot(created(id), { tail: 10 });
    expect(tail.skipped + tail.settledCount).toBe(2 * TURNS + 2);
    expect(tail.skipped).toBeGreaterThan(0);
    const [whole, again] = await Promise.all([core.snapshot(created(id)), core.snapshot(created(id))]);
    expect(spoken(whole)).toHaveLength(2 * TURNS + 2);
    expect(spoken(again)).toEqual(spoken(whole));
    expect(whole.skipped).toBe(0);
    const more = await core.snapshot(created(id), { tail: 1_000 });
    expect(more.skipped).toBe(0);
  });

  it('counts the failures before its end, as far as it is in memory', async () => {
    const { id, memory, store } = await storeWithLongThread();
    const failures = TURNS / 10;
    for (let no = 0; no < failures; no++) {
      const failed = await sendAndClaim(memory, id, { text: 'and then' });
      await end(memory, failed, { messages: [record(failed, 1, { role: 'system', content: 'It failed.' })] });
    }
    await addTurns(memory, id, TURNS + 1, TURNS + 80);
    const rig = new ScriptedRig('small', 1_000);
    const { core } = testCore({ rigs: [rig], store });
    const counted = async (tail?: number) => {
      const { settled, skippedFailures } = await core.snapshot(created(id), { tail });
      return [skippedFailures, skippedFailures + failuresIn(settled)];
    };
    expect(await counted(1)).toEqual([failures, failures]);
    expect(await counted(165)).toEqual([failures - 3, failures]);
    await turn(core, rig, id);
    // The 200 newest records, of which 160 come after the failed turns.
    expect(await counted(1)).toEqual([failures - 20, failures]);
    const medium = new ScriptedRig('medium', 4_000);
    const { core: other } = testCore({ rigs: [medium], store });
    await turn(other, medium, id);
    const { skipped, skippedFailures, settled } = await other.snapshot(created(id), { tail: 1 });
    expect([skipped > 0, skippedFailures, failuresIn(settled)]).toEqual([true, 0, failures]);
    expect(await counted()).toEqual([0, failures]);
  });

  it('is read again for a turn when the store was unavailable', async () => {
    const { id, store } = await storeWithLongThread();
    const rig = new ScriptedRig('medium', 4_000);
    const clock = new FakeClock();
    let tries = 0;
    const { core, log } = testCore({
      rigs: [rig],
      clock,
      store: {
        ...store,
        async readMessages(...asked) {
          tries++;
          if (tries === 1) throw new StoreUnavailableError('cut');
          return store.readMessages(...asked);
        },
      },
    });
    const sent = await core.send(message(id, 'next'));
    await clock.advance(1_000);
    expect(tries).toBe(2);
    const asked = await rig.next();
    expect(asked.request.messages.length).toBeGreaterThan(250);
    asked.text('done').end();
    await core.turnEnded(sent, new AbortController().signal);
    expect(log.lines[0]).toContain('failed to read the thread of a turn, retrying');
  });

  it('is interrupted while it waits for the store', async () => {
    const { id, store } = await storeWithLongThread();
    const rig = new ScriptedRig('medium', 4_000);
    const clock = new FakeClock();
    const tried = new Gate();
    const { core } = testCore({
      rigs: [rig],
      clock,
      store: {
        ...store,
        readMessages() {
          tried.open();
          return Promise.reject(new StoreUnavailableError('cut'));
        },
      },
    });
    await core.send(message(id, 'next'));
    await tried.passed;
    const before = clock.monotonic();
    expect(await clock.passUntil(core.interrupt(created(id)))).toBe(true);
    expect([clock.monotonic() - before, rig.asked.length]).toEqual([0, 0]);
  });

  it('shows the text of a step that ends during a poll for more messages than are in memory', async () => {
    const { id, store } = await storeWithLongThread();
    const rig = new ScriptedRig('small', 1_000);
    let afterRead = () => Promise.resolve();
    const { core } = testCore({
      rigs: [rig],
      tools: [quick],
      store: {
        ...store,
        async loadTail(...asked) {
          const tail = await store.loadTail(...asked);
          await afterRead();
          return tail;
        },
      },
    });
    const sent = await core.send(message(id, 'next'));
    const asked = await rig.next();
    asked.text('Some words');
    const next = rig.next();
    afterRead = async () => {
      asked.call('c1', 'quick').end();
      await next;
    };
    const seen = await core.snapshot(created(id), { tail: 1_000 });
    expect(spoken(seen).at(-1)).toBe('assistant~ Some words');
    asked.call('c1', 'quick').end();
    (await next).text('done').end();
    await core.turnEnded(sent, new AbortController().signal);
  });

  it('starts again after it was deleted elsewhere and made again', async () => {
    const { id, memory, store } = await storeWithLongThread();
    const { core } = testCore({ rigs: [new ScriptedRig()], store, settings: { mirrorMs: 0 } });
    await core.snapshot(created(id), { tail: 5 });
    await core.snapshot(created(id));
    await memory.deleteSession(id, 1);
    await addTurns(memory, id, 1, 2);
    expect(spoken(await core.snapshot(created(id)))).toEqual([
      ...['user: question 1', 'assistant: answer 1', 'user: question 2', 'assistant: answer 2'],
    ]);
  });
});
