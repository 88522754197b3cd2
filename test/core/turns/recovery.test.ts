import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { v4 as uuid } from 'uuid';
import { createMemoryBus } from '../../../src/adapters/bus/memory/bus.js';
import { createMemoryStore } from '../../support/memory-store/store.js';
import type { Message } from '../../../src/core/model/message.js';
import { RigError } from '../../../src/core/ports/rig.js';
import type { Tool } from '../../../src/core/ports/tool.js';
import { newSession } from '../../../src/core/model/session.js';
import { StoreUnavailableError, type Store } from '../../../src/core/ports/store.js';
import type { ClaimedTurn } from '../../../src/core/model/turn.js';
import { claimFree } from '../../contracts/store-fixtures.js';
import {
  closeTestCores,
  collect,
  collectUntil,
  created,
  message,
  spoken,
  testCore,
  type TestCore,
} from '../../support/core.js';
import { FakeClock } from '../../support/fake-clock.js';
import { ScriptedRig } from '../../support/scripted-rig.js';

afterEach(() => {
  jest.useRealTimers();
  return closeTestCores();
});

const never = new AbortController().signal;

/** A message whose turn was claimed by a process that is dead: its lease has run out. */
async function abandoned(store: Store, id: string, text: string, rig?: string): Promise<ClaimedTurn> {
  const accepted = await store.acceptMessage({
    ...{
      sessionId: id,
      ifVersion: newSession(id, 0).version,
      set: { app: 'default', ...(rig !== undefined && { rig }) },
      text,
      app: 'default',
      clientId: null,
      keyId: null,
      quotas: [],
    },
    ...{
      messageId: uuid(),
      turnId: uuid(),
      idempotency: null,
      busy: 'enqueue',
      maxQueued: 50,
      maxSessionBytes: 1e9,
      at: Date.now(),
    },
    claim: { owner: 'dead', milliseconds: -1 },
  });
  if (accepted.kind !== 'accepted' || accepted.claimed === null) throw new Error('not claimed');
  return accepted.claimed;
}

function called(turn: ClaimedTurn, name: string): Message {
  return {
    ...{
      id: uuid(),
      turnId: turn.id,
      turnNo: turn.no,
      position: 1,
      role: 'assistant',
      content: 'Let me see.',
    },
    ...{ toolCalls: [{ callId: 'c1', name, args: {} }], toolResults: null, createdAt: Date.now() },
  };
}

function counted(sideEffects: Tool['sideEffects']): Tool & { runs: number } {
  return {
    ...{
      name: 'counted',
      description: '',
      parameters: { type: 'object' },
      timeoutMs: null,
      sideEffects,
      runs: 0,
    },
    run() {
      this.runs++;
      return Promise.resolve('ok');
    },
  };
}

/** The service that comes after a dead process, and the turn that was left to it. */
async function afterLoss(left: {
  readonly asked?: string;
  readonly partialText?: string;
  /** The rig that the session has selected. */
  readonly selected?: string;
  /** The name of a tool that the turn has called. */
  readonly called?: string;
  readonly tools?: readonly Tool[];
}): Promise<{
  store: Store;
  id: string;
  lost: ClaimedTurn;
  rig: ScriptedRig;
  core: TestCore['core'];
  clock: FakeClock;
}> {
  const { asked = 'Hi', partialText = '', tools = [] } = left;
  const store = createMemoryStore();
  const id = uuid();
  const lost = await abandoned(store, id, asked, left.selected);
  const messages = left.called === undefined ? [] : [called(lost, left.called)];
  await store.saveProgress(lost, { messages, events: [], partialText }, Date.now());
  const rig = new ScriptedRig();
  const clock = new FakeClock();
  const { core } = testCore({ rigs: [rig], store, tools, clock });
  return { store, id, lost, rig, core, clock };
}

describe('a turn whose process died', () => {
  it('is taken over and goes on; the late writes of the lost attempt are refused', async () => {
    const { store, id, lost, rig, core } = await afterLoss({ partialText: 'Go' });
    await core.start();
    const asked = await rig.next();
    // What was shown stands until there is something new.
    expect(spoken(await core.snapshot(created(id)))).toEqual(['user: Hi', 'assistant~ Go']);
    expect(
      await store.saveProgress(lost, { messages: [], events: [], partialText: 'late' }, Date.now()),
    ).toBe('lost');
    asked.text('Good day').end();
    await core.turnEnded({ sessionId: id, turnId: lost.id, repeated: false }, never);
    expect(spoken(await core.snapshot(created(id)))).toEqual(['user: Hi', 'assistant: Good day']);
  });

  it('goes on in the attempt that has taken it over when its thread cannot be read at once', async () => {
    const { store, id, lost, rig, clock } = await afterLoss({});
    let reads = 0;
    const { core } = testCore({
      ...{ rigs: [rig], clock },
      store: {
        ...store,
        loadThread: (...asked) =>
          ++reads < 3 ? Promise.reject(new StoreUnavailableError('gone')) : store.loadThread(...asked),
      },
    });
    await core.start();
    (await clock.passUntil(rig.next())).text('Good day').end();
    await core.turnEnded({ sessionId: id, turnId: lost.id, repeated: false }, never);
    expect(spoken(await core.snapshot(created(id)))).toEqual(['user: Hi', 'assistant: Good day']);
  });

  it('asks no model when it has ended before its thread could be read', async () => {
    const { store, rig, clock } = await afterLoss({});
    const { core, log } = testCore({
      ...{ rigs: [rig], clock },
      store: {
        ...store,
        async loadThread(...asked) {
          const thread = await store.loadThread(...asked);
          return typeof thread === 'string' ? thread : { ...thread, open: [] };
        },
      },
    });
    await core.start();
    await clock.advance(1_000);
    expect(rig.asked).toEqual([]);
    expect(log.lines.join()).toContain('left a turn for recovery');
  });

  it('cuts a stream that began before its successor, and saw what is made again', async () => {
    const { id, lost, rig, core } = await afterLoss({ partialText: 'Going to' });
    const feed = await core.watchTurn({ sessionId: id, turnId: lost.id, repeated: true });
    await core.start();
    const asked = await rig.next();
    asked.text('Go').fail(new RigError('cut', { retryable: false }));
    expect((await collect(feed)).map((update) => (update.type === 'text' ? update.content : update))).toEqual(
      ['Going to', { type: 'cut', reason: 'replaced' }],
    );
    await core.turnEnded({ sessionId: id, turnId: lost.id, repeated: false }, never);
    expect(spoken(await core.snapshot(created(id)))).toEqual(['user: Hi', 'assistant: Go', 'system: cut']);
  });

  it('is watched from another node after it was taken over: what its lost attempt had is polled, and streamed nowhere', async () => {
    const { store, id, lost, rig } = await afterLoss({ partialText: 'Going to' });
    const bus = createMemoryBus();
    const successor = testCore({ rigs: [rig], store, bus }).core;
    const { core: other } = testCore({ rigs: [new ScriptedRig()], store, bus });
    await successor.start();
    const asked = await rig.next();
    const watch = await other.watchTurn({ sessionId: id, turnId: lost.id, repeated: true });
    const updates = await other.updates(created(id), { after: null, turns: true });
    expect(spoken(await other.snapshot(created(id)))).toEqual(['user: Hi', 'assistant~ Going to']);
    asked.text('Gone', ' by bus').end();
    const texts = (all: readonly { type: string; content?: string }[]) =>
      all.map(({ type, content }) => (type === 'text' ? content : type));
    expect(texts(await collect(watch))).toEqual(['Gone', ' by bus', 'turn_ended']);
    const seen = await collectUntil(updates, ({ type }) => type === 'turn_ended');
    expect(texts(seen).filter((type) => type !== 'logged')).toEqual([
      ...['turn_started', 'Gone', ' by bus', 'turn_ended'],
    ]);
  });

  it('has another tag on another node once its text is made again, also when that is as long', async () => {
    const { store, id } = await afterLoss({ partialText: 'Going to' });
    const before = await testCore({ rigs: [new ScriptedRig()], store }).core.snapshot(created(id));
    const [taken] = await claimFree(store, { owner: 'another', milliseconds: 60_000 }, 1);
    if (taken === undefined) throw new Error('not claimed');
    await store.saveProgress(taken, { messages: [], events: [], partialText: 'Gone by ' }, Date.now());
    const after = await testCore({ rigs: [new ScriptedRig()], store }).core.snapshot(created(id));
    expect([before, after].map((snapshot) => spoken(snapshot)[1])).toEqual([
      ...['assistant~ Going to', 'assistant~ Gone by '],
    ]);
    expect(after.tag).not.toBe(before.tag);
  });

  it('keeps what its lost attempt had while it reports that another model answers', async () => {
    const { store, id, rig, core } = await afterLoss({ partialText: 'Going to', selected: 'gone' });
    await core.start();
    await rig.next();
    expect(await store.readEvents(id, 0, 10)).toMatchObject({
      events: [{ body: { type: 'system_notice' } }],
    });
    expect(await store.readFlight(id)).toMatchObject({ attempt: 2, text: '', leftover: 'Going to' });
    expect(spoken(await core.snapshot(created(id)))).toEqual(['user: Hi', 'assistant~ Going to']);
  });

  it('is complete without what its lost attempt had of a step that came out empty', async () => {
    const tools = [counted('idempotent')];
    const { id, lost, rig, core } = await afterLoss({ called: 'counted', tools, partialText: 'The bal' });
    await core.start();
    (await rig.next()).end();
    await core.turnEnded({ sessionId: id, turnId: lost.id, repeated: false }, never);
    const end = await core.snapshot(created(id));
    expect(spoken(end)).toEqual(['user: Hi', 'assistant: Let me see.', 'counted = "ok"']);
  });

  it('runs a harmless call again and goes on from there', async () => {
    const tool = counted('idempotent');
    const { id, lost, rig, core } = await afterLoss({ called: 'counted', tools: [tool] });
    await core.start();
    const asked = await rig.next();
    expect([tool.runs, asked.request.messages.length]).toEqual([1, 2]);
    asked.text('Done').end();
    await core.turnEnded({ sessionId: id, turnId: lost.id, repeated: false }, never);
    const end = await core.snapshot(created(id));
    expect(spoken(end)).toEqual(['user: Hi', 'assistant: Let me see.', 'counted = "ok"', 'assistant: Done']);
  });

  it('never repeats a call with side effects, and says that its outcome is unknown', async () => {
    const tool = counted('yes');
    const { id, lost, rig, core } = await afterLoss({ asked: 'Pay', called: 'counted', tools: [tool] });
    await core.start();
    await core.turnEnded({ sessionId: id, turnId: lost.id, repeated: false }, never);
    const end = await core.snapshot(created(id));
    expect(spoken(end).slice(0, 3)).toEqual([
      'user: Pay',
      'assistant: Let me see.',
      'counted = "outcome unknown"',
    ]);
    expect([tool.runs, rig.asked.length, end.status]).toEqual([0, 0, 'interrupted']);
    expect(end.faults.events.map(({ text }) => text)).toEqual([expect.stringContaining('counted')]);
  });

  it('is given up after three losses, with what was shown', async () => {
    const store = createMemoryStore();
    const id = uuid();
    await abandoned(store, id, 'Hi');
    for (let losses = 1; losses <= 2; losses++) {
      const [turn] = await claimFree(store, { owner: `dead-${String(losses)}`, milliseconds: -1 }, 1);
      expect(turn?.losses).toBe(losses);
      if (turn) await store.saveProgress(turn, { messages: [], events: [], partialText: 'Half' }, Date.now());
    }
    const rig = new ScriptedRig();
    const { core } = testCore({ rigs: [rig], store });
    const queued = await core.send(message(id, 'Still there?'));
    await core.start();
    const asked = await rig.next();
    const between = await core.snapshot(created(id));
    expect(spoken(between)).toEqual([
      ...[
        'user: Hi',
        'assistant: Half',
        expect.stringMatching(/^system: .*three times/),
        'user: Still there?',
      ],
    ]);
    asked.text('Yes').end();
    await core.turnEnded(queued, never);
    expect((await core.snapshot(created(id))).status).toBe('idle');
  });

  it('ends when an interrupt finds it before its successor does', async () => {
    const { id, core, clock } = await afterLoss({ partialText: 'Some' });
    expect(await clock.passUntil(core.interrupt(created(id)))).toBe(true);
    const end = await core.snapshot(created(id));
    expect([spoken(end), end.status]).toEqual([['user: Hi', 'assistant: Some'], 'interrupted']);
  });
});

describe('many turns whose process died', () => {
  it('are all taken over at once', async () => {
    const store = createMemoryStore();
    for (let n = 0; n < 150; n++) await abandoned(store, uuid(), 'Hi');
    const { core } = testCore({ rigs: [new ScriptedRig()], store });
    await core.start();
    expect(await claimFree(store, { owner: 'another', milliseconds: 1_000 }, 1_000)).toEqual([]);
  });
});

describe('a drain', () => {
  it('refuses messages, lets a turn end, and hands back what does not', async () => {
    const store = createMemoryStore();
    const rig = new ScriptedRig();
    const { core } = testCore({ rigs: [rig], store });
    await core.start();
    const [quick, slow] = [uuid(), uuid()];
    const quickSent = await core.send(message(quick, 'quick'));
    const first = await rig.next();
    const sent = await core.send(message(slow, 'slow'));
    await rig.next();
    const feed = await core.watchTurn(sent);
    const updates = await core.updates(created(slow), { after: null, turns: false });
    const quickFeed = await core.watchTurn(quickSent);
    // Time stands still until the quick one has ended.
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    const drained = core.drain(50);
    await expect(core.send(message(quick, 'more'))).rejects.toMatchObject({ reason: 'unavailable' });
    expect((await core.health()).status).toBe('draining');
    first.text('there').end();
    expect((await collect(quickFeed)).at(-1)).toMatchObject({ type: 'turn_ended' });
    await jest.advanceTimersByTimeAsync(50);
    jest.useRealTimers();
    await drained;
    expect((await collect(feed)).at(-1)).toEqual({ type: 'cut', reason: 'draining' });
    expect(await collect(updates)).toEqual([]);
    expect(spoken(await core.snapshot(created(quick)))).toEqual(['user: quick', 'assistant: there']);

    const next = new ScriptedRig();
    const { core: restarted } = testCore({ rigs: [next], store });
    await restarted.start();
    (await next.next()).text('at last').end();
    await restarted.turnEnded(sent, never);
    expect(spoken(await restarted.snapshot(created(slow)))).toEqual(['user: slow', 'assistant: at last']);
  });
});
