import { afterEach, describe, expect, it } from '@jest/globals';
import { setImmediate as nextRound } from 'node:timers/promises';
import { v4 as uuid } from 'uuid';
import { createMemoryStore } from '../../support/memory-store/store.js';
import { RigError } from '../../../src/core/ports/rig.js';
import type { Tool } from '../../../src/core/ports/tool.js';
import { RefusedError } from '../../../src/core/model/refusal.js';
import type { Snapshot } from '../../../src/core/model/snapshot.js';
import type { Store } from '../../../src/core/ports/store.js';
import {
  closeTestCores,
  collect,
  collectUntil,
  created,
  message,
  spoken,
  testApp,
  testCore,
} from '../../support/core.js';
import { Gate } from '../../support/gate.js';
import { ScriptedRig } from '../../support/scripted-rig.js';

afterEach(closeTestCores);

const never = new AbortController().signal;

function tool(fields: Partial<Tool> & Pick<Tool, 'name' | 'run'>): Tool {
  return {
    description: fields.name,
    parameters: { type: 'object' },
    sideEffects: 'none',
    timeoutMs: null,
    ...fields,
  };
}

describe('a turn', () => {
  it('shows its message at once, its text as it comes, and its answer at the end', async () => {
    const rig = new ScriptedRig();
    const { core } = testCore({ rigs: [rig] });
    const id = uuid();
    const sent = await core.send(message(id, 'Hello'));
    const before = await core.snapshot(created(id));
    expect([spoken(before), before.status]).toEqual([['user: Hello'], 'processing']);

    const feed = await core.watchTurn(sent);
    const asked = await rig.next();
    expect(asked.request.messages).toEqual([{ role: 'user', content: 'Hello' }]);
    asked.text('Good ', 'day');
    await collectUntil(feed, (update) => update.type === 'text' && update.content === 'day');
    const during = await core.snapshot(created(id));
    expect([spoken(during), during.status]).toEqual([['user: Hello', 'assistant~ Good day'], 'processing']);

    asked.end();
    await core.turnEnded(sent, never);
    const after = await core.snapshot(created(id));
    expect([spoken(after), after.status]).toEqual([['user: Hello', 'assistant: Good day'], 'idle']);
    expect(new Set([before.tag, during.tag, after.tag]).size).toBe(3);
  });

  it('leaves a snapshot that is the same object until something changes', async () => {
    const rig = new ScriptedRig();
    const { core } = testCore({ rigs: [rig] });
    const ref = created(uuid());
    await core.createSession({ sessionId: ref.id });
    const now = (): Snapshot => {
      const snapshot = core.snapshot(ref);
      if (snapshot instanceof Promise) throw new Error('memory has it, and needs no promise');
      return snapshot;
    };
    const taken = [now()];
    expect(now()).toBe(taken[0]);

    await core.renameSession(ref.id, 'Ours');
    taken.push(now());
    const sent = await core.send(message(ref.id, 'Hello'));
    taken.push(now());
    const asked = await rig.next();
    asked.text('Good day');
    asked.end();
    await core.turnEnded(sent, never);
    taken.push(now());
    expect(now()).toBe(taken.at(-1));
    expect(new Set(taken).size).toBe(4);
    expect(new Set(taken.map((snapshot) => snapshot.tag)).size).toBe(4);
    expect(taken.map((snapshot) => snapshot.settledCount)).toEqual([0, 0, 0, 2]);
  });

  it('runs the tools that the rig calls, side by side, and goes on with their results', async () => {
    const rig = new ScriptedRig();
    const tools = [
      tool({ name: 'add', run: ({ a, b }) => Promise.resolve(Number(a) + Number(b)) }),
      tool({ name: 'broken', run: () => Promise.reject(new Error('no luck')) }),
    ];
    const { core } = testCore({ rigs: [rig], tools });
    const id = uuid();
    const sent = await core.send(message(id, 'Add'));
    const feed = await core.watchTurn(sent);
    const first = await rig.next();
    first
      .text('Let me see.')
      .call('c1', 'add', { a: 1, b: 2 })
      .call('c2', 'broken')
      .call('c3', 'absent')
      .end();
    const second = await rig.next();
    const [, step] = second.request.messages;
    expect(step).toMatchObject({ role: 'assistant', content: 'Let me see.' });
    const results = step?.role === 'assistant' ? step.toolResults : [];
    expect(new Map(results.map(({ callId, result }) => [callId, result]))).toEqual(
      new Map<string, unknown>([
        ['c1', 3],
        ['c2', 'no luck'],
        ['c3', 'There is no tool named absent'],
      ]),
    );
    second.text('It is 3.').end();
    const events = await collect(feed);
    expect(events.map(({ type }) => type)).toEqual([
      ...['turn_started', 'text', 'tool_called', 'tool_called', 'tool_called'],
      ...['tool_returned', 'tool_returned', 'tool_returned', 'text', 'turn_ended'],
    ]);
    const end = await core.snapshot(created(id));
    expect(spoken(end).slice(0, 2)).toEqual(['user: Add', 'assistant: Let me see.']);
    expect(spoken(end).at(-1)).toBe('assistant: It is 3.');
  });

  it('fails a call whose arguments the rig could not read, and goes on', async () => {
    const rig = new ScriptedRig();
    let runs = 0;
    const count = tool({ name: 'count', run: () => Promise.resolve(++runs) });
    const { core } = testCore({ rigs: [rig], tools: [count] });
    const id = uuid();
    const sent = await core.send(message(id, 'Count'));
    const problem = 'The arguments were a JSON array.';
    (await rig.next()).call('c1', 'count', {}, { problem }).call('c2', 'count').end();
    const second = await rig.next();
    const [, step] = second.request.messages;
    const results = step?.role === 'assistant' ? step.toolResults : [];
    expect(results).toHaveLength(2);
    expect(results).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ callId: 'c1', result: problem, failed: true }),
        expect.objectContaining({ callId: 'c2', result: 1, failed: false }),
      ]),
    );
    second.text('One.').end();
    await core.turnEnded(sent, never);
    expect(runs).toBe(1);
    expect((await core.snapshot(created(id))).status).toBe('idle');
  });

  it('bounds the ids and names of calls, which every event, state and request contains', async () => {
    const rig = new ScriptedRig();
    const count = tool({ name: 'count', run: () => Promise.resolve(1) });
    const { core } = testCore({ rigs: [rig], tools: [count] });
    const sent = await core.send(message(uuid(), 'Count'));
    const signed = `call_1__thought__${'s'.repeat(10_000)}`;
    const long = 'x'.repeat(500_000);
    (await rig.next()).call(signed, 'count').call(long, 'count').call('c3', `count${long}`).end();
    const second = await rig.next();
    const [, step] = second.request.messages;
    const calls = step?.role === 'assistant' ? step.toolCalls : [];
    const results = step?.role === 'assistant' ? step.toolResults : [];
    expect(calls.map(({ callId, name }) => [callId.length <= 36, name.length])).toEqual([
      [false, 5],
      [true, 5],
      [true, 256],
    ]);
    expect(calls[0]?.callId).toBe(signed);
    expect(results.map(({ failed }) => failed).toSorted()).toEqual([false, false, true]);
    second.text('One.').end();
    await core.turnEnded(sent, never);
  });

  it('runs queued messages in order of arrival, each after everything of the one before', async () => {
    const rig = new ScriptedRig();
    const { core } = testCore({ rigs: [rig] });
    const id = uuid();
    await core.send(message(id, 'one'));
    await core.send(message(id, 'two'));
    const third = await core.send(message(id, 'three'));
    expect(spoken(await core.snapshot(created(id)))).toEqual(['user: one', 'user: two', 'user: three']);
    (await rig.next()).text('1').end();
    const second = await rig.next();
    expect(spoken(await core.snapshot(created(id)))).toEqual([
      'user: one',
      'assistant: 1',
      'user: two',
      'user: three',
    ]);
    expect(second.request.messages.map(({ content }) => content)).toEqual(['one', '1', 'two']);
    second.text('2').end();
    (await rig.next()).text('3').end();
    await core.turnEnded(third, never);
    const end = spoken(await core.snapshot(created(id)));
    expect(end).toEqual([
      'user: one',
      'assistant: 1',
      'user: two',
      'assistant: 2',
      'user: three',
      'assistant: 3',
    ]);
  });

  it('keeps what was shown and says why when the rig fails', async () => {
    const rig = new ScriptedRig();
    const { core } = testCore({ rigs: [rig] });
    const id = uuid();
    const sent = await core.send(message(id, 'Hi'));
    (await rig.next())
      .text('Well')
      .fail(new RigError('The model went away. Try again.', { retryable: true }));
    await core.turnEnded(sent, never);
    const first = await core.snapshot(created(id));
    expect(spoken(first)).toEqual(['user: Hi', 'assistant: Well', 'system: The model went away. Try again.']);
    expect([first.status, first.faults.events.map(({ text }) => text)]).toEqual([
      'idle',
      ['The model went away. Try again.'],
    ]);
    // On its way in one answer: no other carries it, until that one turns out not to have been sent.
    expect((await core.snapshot(created(id))).faults.events).toEqual([]);
    first.faults.release();
    const second = await core.snapshot(created(id));
    expect(second.faults.events).toHaveLength(1);
    second.faults.confirm();
    expect((await core.snapshot(created(id))).faults.events).toEqual([]);
    expect(await core.systemEvents(created(id), 10)).toEqual([
      { kind: 'SystemError', text: 'The model went away. Try again.' },
    ]);
  });

  it('asks again when the rig failed before it said anything, and hides an error that is not its own', async () => {
    const rig = new ScriptedRig();
    const { core } = testCore({ rigs: [rig] });
    const id = uuid();
    const sent = await core.send(message(id, 'Hi'));
    (await rig.next()).fail(new RigError('busy', { retryable: true, retryAfterMs: 1 }));
    (await rig.next()).fail(new Error('secret stack'));
    await core.turnEnded(sent, never);
    const { faults } = await core.snapshot(created(id));
    expect(faults.events.map(({ text }) => text)).toEqual([
      'Something went wrong inside the service while answering. Send the message again.',
    ]);
  });

  it('ends when it takes too long, even if the rig heeds nothing', async () => {
    const rig = new ScriptedRig();
    rig.heedsSignal = false;
    const { core } = testCore({ rigs: [rig], settings: { turnTimeoutMs: 20 } });
    const id = uuid();
    const sent = await core.send(message(id, 'Hi'));
    await core.turnEnded(sent, never);
    const snapshot = await core.snapshot(created(id));
    expect([snapshot.status, snapshot.faults.events[0]?.text]).toEqual([
      'idle',
      expect.stringContaining('0.02 s'),
    ]);
  });

  it('ends when its answer exceeds the limit, with what was shown', async () => {
    const rig = new ScriptedRig();
    const { core } = testCore({
      rigs: [rig],
      tools: [tool({ name: 'look', run: () => Promise.resolve('ok') })],
    });
    const id = uuid();
    const sent = await core.send(message(id, 'Hi'));
    const asked = await rig.next();
    const megabyte = 1_048_576;
    // In pieces, so that the waiting client is not overrun.
    for (const piece of [...Array<string>(15).fill('a'.repeat(65_536)), 'a'.repeat(65_535), 'bcd']) {
      asked.text(piece);
      await nextRound();
    }
    await core.turnEnded(sent, never);
    const { settled, faults } = await core.snapshot(created(id));
    const answer = settled[1]?.content ?? '';
    expect([answer.length, answer.at(-1), faults.events.map(({ text }) => text)]).toEqual([
      megabyte,
      'b',
      ['The answer grew too long and was stopped. Ask for less at once.'],
    ]);
    expect(asked.signal.aborted).toBe(true);

    const again = await core.send(message(id, 'Look'));
    const calls = await rig.next();
    for (let n = 0; n < 129; n++) calls.call(`c${String(n)}`, 'look');
    await core.turnEnded(again, never);
    expect((await core.snapshot(created(id))).faults.events.map(({ text }) => text)).toEqual([
      expect.stringContaining('too long'),
    ]);
  });

  it('is titled in the background by its rig, or from its first words, but never over a title of a person', async () => {
    for (const [given, expected] of [
      ['"A fine title."', 'A fine title'],
      [null, 'What is the weather like in the town of Ulm…'],
    ] as const) {
      const rig = new ScriptedRig();
      rig.titles = given;
      const { core } = testCore({ rigs: [rig] });
      const id = uuid();
      const feed = await core.updates(created(id), { after: null, turns: false });
      await core.send(message(id, 'What is the weather like in the town of Ulm today, please?'));
      (await rig.next()).text('Fair').end();
      const [update] = await collectUntil(feed, () => true);
      expect(update).toMatchObject({
        type: 'logged',
        event: { id: 1, body: { type: 'title_changed', title: expected } },
      });
      expect((await core.getSession(id)).title).toBe(expected);
      expect((await core.renameSession(id, '  Mine ')).title).toBe('Mine');
      const sent = await core.send(message(id, 'And now?'));
      (await rig.next()).text('Rain').end();
      await core.turnEnded(sent, never);
      await core.close();
      expect((await core.getSession(id)).title).toBe('Mine');
    }
  });
});

describe('a title of a rig', () => {
  it.each([
    ['<think>\nThe user asks about Ulm.\n</think>\n\nWeather in Ulm', 'Weather in Ulm'],
    [' <THINK></THINK>Weather in Ulm', 'Weather in Ulm'],
    // The `<think>` is in the prompt of such a model.
    ['The user asks about Ulm.\n</think>\n\nWeather in Ulm', 'Weather in Ulm'],
    ['<think>\nThe user asks', 'Is it raining?'],
    ['<think>The user asks</think>', 'Is it raining?'],
    ['> Weather in Ulm', 'Weather in Ulm'],
    ['What <think> means', 'What <think> means'],
  ])('that says %j is %j', async (said, title) => {
    const rig = new ScriptedRig();
    rig.titles = said;
    const { core } = testCore({ rigs: [rig] });
    const id = uuid();
    const feed = await core.updates(created(id), { after: null, turns: false });
    await core.send(message(id, 'Is it raining?'));
    (await rig.next()).text('No').end();
    const [update] = await collectUntil(feed, () => true);
    expect(update).toMatchObject({ event: { body: { type: 'title_changed', title } } });
  });
});

describe('a title without an answer of a rig', () => {
  it('is the first words of the thread, also when its first turn came to nothing', async () => {
    const rig = new ScriptedRig();
    rig.titles = null;
    const { core } = testCore({ rigs: [rig] });
    const id = uuid();
    const feed = await core.updates(created(id), { after: null, turns: false });
    await core.send(message(id, 'first words here'));
    await rig.next();
    await core.interrupt(created(id));
    await core.send(message(id, 'second thing'));
    (await rig.next()).text('Yes').end();
    const seen = await collectUntil(
      feed,
      (update) => update.type === 'logged' && update.event.body.type === 'title_changed',
    );
    expect(seen.at(-1)).toMatchObject({ event: { body: { title: 'first words here' } } });
  });

  it('is made of a turn that ends while the service drains, without a question', async () => {
    const rig = new ScriptedRig();
    rig.titles = 'Asked for';
    const { core, store } = testCore({ rigs: [rig] });
    const id = uuid();
    await core.send(message(id, 'hello there'));
    const asked = await rig.next();
    const drained = core.drain(60_000);
    asked.text('Hi').end();
    await drained;
    await core.close();
    expect(rig.asked.length).toBe(1);
    expect(await store.loadThread(id)).toMatchObject({ session: { title: 'hello there' } });
  });
});

describe('an interrupt', () => {
  it('keeps what was shown, closes calls, ends the queue, and leaves the next turn alone', async () => {
    const rig = new ScriptedRig();
    let aborted = false;
    const slow = tool({
      name: 'slow',
      run: (_, { signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => (aborted = true));
        }),
    });
    const { core } = testCore({ rigs: [rig], tools: [slow] });
    const id = uuid();
    const first = await core.send(message(id, 'one'));
    const queued = await core.send(message(id, 'two'));
    const [watched, waiting] = [await core.watchTurn(first), await core.watchTurn(queued)];
    (await rig.next()).text('Wait').call('c1', 'slow').end();
    await collectUntil(watched, ({ type }) => type === 'tool_called');
    expect(await core.interrupt(created(id))).toBe(true);
    const snapshot = await core.snapshot(created(id));
    expect(spoken(snapshot)).toEqual(['user: one', 'assistant: Wait', 'slow = "interrupted"', 'user: two']);
    expect([snapshot.status, aborted]).toEqual(['interrupted', true]);
    expect(await collect(waiting)).toMatchObject([{ type: 'turn_ended', outcome: 'interrupted' }]);
    expect(await core.interrupt(created(id))).toBe(false);

    const third = await core.send(message(id, 'three'));
    const asked = await rig.next();
    expect(asked.request.messages.map(({ content }) => content)).toEqual(['one', 'Wait', 'two', 'three']);
    asked.text('Here').end();
    await core.turnEnded(third, never);
    expect((await core.snapshot(created(id))).status).toBe('idle');
  });

  it('is over when the session is deleted during it', async () => {
    const [marked, rig, store] = [new Gate(), new ScriptedRig(), createMemoryStore()];
    const slow: Store = {
      ...store,
      async interruptTurns(...asked) {
        const interruption = await store.interruptTurns(...asked);
        marked.open();
        return interruption;
      },
      async deleteSession(...asked) {
        await marked.passed;
        return store.deleteSession(...asked);
      },
    };
    const { core, log } = testCore({ rigs: [rig], store: slow });
    const id = uuid();
    await core.send(message(id, 'Hi'));
    await rig.next();
    const deleted = core.deleteSession(id);
    expect(await core.interrupt(created(id))).toBe(true);
    await deleted;
    expect(log.lines).toEqual([]);
  });

  it('stops the rig at once and keeps the text in flight as the answer', async () => {
    const rig = new ScriptedRig();
    const { core } = testCore({ rigs: [rig] });
    const id = uuid();
    const sent = await core.send(message(id, 'count'));
    const feed = await core.watchTurn(sent);
    const asked = await rig.next();
    asked.text('1 2 ');
    await collectUntil(feed, ({ type }) => type === 'text');
    await core.interrupt(created(id));
    expect(asked.signal.aborted).toBe(true);
    await asked.left;
    expect(spoken(await core.snapshot(created(id)))).toEqual(['user: count', 'assistant: 1 2 ']);
  });

  it('does not wait for a rig that heeds nothing, and never shows what that says late', async () => {
    const rig = new ScriptedRig();
    rig.heedsSignal = false;
    const { core } = testCore({ rigs: [rig] });
    const id = uuid();
    await core.send(message(id, 'Hi'));
    const asked = await rig.next();
    expect(await core.interrupt(created(id))).toBe(true);
    asked.text('too late').end();
    await asked.left;
    expect(spoken(await core.snapshot(created(id)))).toEqual(['user: Hi']);
  });
});

describe('a busy thread', () => {
  it('rejects or interrupts where the App says so', async () => {
    const rig = new ScriptedRig();
    const { core } = testCore({ rigs: [rig], apps: [testApp({ busyStrategy: 'reject' })] });
    const id = uuid();
    await core.send(message(id, 'one'));
    await expect(core.send(message(id, 'two'))).rejects.toMatchObject({ reason: 'busy' });
    expect(spoken(await core.snapshot(created(id)))).toEqual(['user: one']);

    const other = new ScriptedRig();
    const { core: interrupting } = testCore({
      rigs: [other],
      apps: [testApp({ busyStrategy: 'interrupt' })],
    });
    await interrupting.send(message(id, 'one'));
    (await other.next()).text('part');
    const second = await interrupting.send(message(id, 'two'));
    const asked = await other.next();
    expect(asked.request.messages.at(-1)).toEqual({ role: 'user', content: 'two' });
    asked.text('done').end();
    await interrupting.turnEnded(second, never);
    const end = await interrupting.snapshot(created(id));
    expect([spoken(end).at(-1), end.status]).toEqual(['assistant: done', 'idle']);
  });

  it('refuses more than may wait', async () => {
    const { core } = testCore({ rigs: [new ScriptedRig()], settings: { maxQueued: 1 } });
    const id = uuid();
    await core.send(message(id, 'runs'));
    await core.send(message(id, 'waits'));
    const refusal = await core.send(message(id, 'too many')).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(RefusedError);
    expect(refusal).toMatchObject({ reason: 'too_many', retryAfter: 5 });
  });
});

describe('an idempotency key', () => {
  it('starts one turn however often and from wherever it is sent', async () => {
    const rig = new ScriptedRig();
    const { core } = testCore({ rigs: [rig] });
    const id = uuid();
    const sends = Array.from({ length: 5 }, () => core.send(message(id, 'once', { idempotencyKey: 'k' })));
    const sent = await Promise.all(sends);
    expect(new Set(sent.map(({ turnId }) => turnId)).size).toBe(1);
    expect(sent.filter(({ repeated }) => !repeated)).toHaveLength(1);
    await expect(core.send(message(id, 'other', { idempotencyKey: 'k' }))).rejects.toMatchObject({
      reason: 'key_reused',
    });
    const [first] = sent;
    (await rig.next()).text('a', 'b').end();
    if (first !== undefined) await core.turnEnded(first, never);
    const repeat = await core.send(message(id, 'once', { idempotencyKey: 'k' }));
    expect(await collect(await core.watchTurn(repeat))).toMatchObject([
      { type: 'text', content: 'ab' },
      { type: 'turn_ended', outcome: 'complete' },
    ]);
    expect(rig.asked).toHaveLength(1);
  });
});
