import { afterEach, describe, expect, it } from '@jest/globals';
import { v4 as uuid } from 'uuid';
import { createMemoryStore } from '../../support/memory-store/store.js';
import type { Sent } from '../../../src/core/model/send-request.js';
import type { Tool } from '../../../src/core/ports/tool.js';
import type { RunningCore } from '../../../src/core/create-core.js';
import type { Store } from '../../../src/core/ports/store.js';
import { encodeMessages } from '../../../src/surfaces/shared/messages.js';
import { LOST, sendAndClaim } from '../../contracts/store-fixtures.js';
import { closeTestCores, collectUntil, created, message, testCore } from '../../support/core.js';
import { FakeClock } from '../../support/fake-clock.js';
import { Gate } from '../../support/gate.js';
import { ScriptedRig } from '../../support/scripted-rig.js';

afterEach(closeTestCores);

const never = new AbortController().signal;

/** What the surfaces show of a thread: text or result, and when, in milliseconds after `from`. */
async function shown(core: RunningCore, id: string, from: number): Promise<[said: string, after: number][]> {
  const { json } = encodeMessages(await core.snapshot(created(id)), { start: Buffer.from('['), end: ']' });
  const messages = JSON.parse(Buffer.concat(json.flat()).toString()) as {
    content: string;
    tool_result: [string, string] | null;
    timestamp: string;
  }[];
  return messages.map(({ content, tool_result, timestamp }) => [
    tool_result?.[1] ?? content,
    Date.parse(timestamp) - from,
  ]);
}

/** Resolves once a stream of the turn shows this piece of text. */
async function showing(core: RunningCore, sent: Sent, text: string): Promise<void> {
  await collectUntil(
    await core.watchTurn(sent),
    (update) => update.type === 'text' && update.content === text,
  );
}

/** A store that says when it has a checkpoint. */
function checkpointed(): { store: Store; stored: Promise<void> } {
  const store = createMemoryStore();
  const gate = new Gate();
  const saveProgress: Store['saveProgress'] = async (turn, progress, at) => {
    const saved = await store.saveProgress(turn, progress, at);
    if (progress.partialText !== null && progress.partialText !== '') gate.open();
    return saved;
  };
  return { store: { ...store, saveProgress }, stored: gate.passed };
}

describe("a message's timestamp", () => {
  it('is the time of its first character, of a tool its result, while it streams, after, and on another node', async () => {
    const clock = new FakeClock();
    const from = clock.now();
    const rig = new ScriptedRig();
    const { store, stored } = checkpointed();
    const running = new Gate();
    const release = new Gate();
    const tool: Tool = {
      ...{ name: 'wait', description: '', parameters: {}, sideEffects: 'none', timeoutMs: null },
      async run() {
        running.open();
        await release.passed;
        return 'waited';
      },
    };
    const { core } = testCore({ rigs: [rig], tools: [tool], store, clock });
    const id = uuid();
    const sent = await core.send(message(id, 'Hi'));
    const expected: [string, number][] = [['Hi', 0]];
    const asked = await rig.next();

    clock.pass(1_000);
    asked.text('One');
    await showing(core, sent, 'One');
    clock.pass(1_000);
    await stored;
    expected.push(['One', 1_000]);
    const other = (): RunningCore => testCore({ rigs: [new ScriptedRig()], store, clock }).core;
    for (const node of [core, other()]) expect(await shown(node, id, from)).toEqual(expected);

    asked.call('c1', 'wait').end();
    await running.passed;
    clock.pass(1_000);
    for (const node of [core, other()]) expect(await shown(node, id, from)).toEqual(expected);

    release.open();
    const next = await rig.next();
    expected.push(['waited', 3_000]);
    clock.pass(1_000);
    next.text('Two');
    await showing(core, sent, 'Two');
    expect(await shown(core, id, from)).toEqual([...expected, ['Two', 4_000]]);
    clock.pass(1_000);
    next.text(' and more').end();
    await core.turnEnded(sent, never);
    expected.push(['Two and more', 4_000]);
    for (const node of [core, other()]) expect(await shown(node, id, from)).toEqual(expected);
    const { messages } = await core.readMessages(id, { limit: 9, before: null });
    expect(messages.map(({ createdAt }) => createdAt - from)).toEqual([0, 1_000, 4_000]);
  });

  it('is the time of the interruption for a call that it ends', async () => {
    const clock = new FakeClock();
    const from = clock.now();
    const rig = new ScriptedRig();
    const running = new Gate();
    const tool: Tool = {
      ...{ name: 'hang', description: '', parameters: {}, sideEffects: 'none', timeoutMs: null },
      run() {
        running.open();
        return new Promise(() => undefined);
      },
    };
    const { core } = testCore({ rigs: [rig], tools: [tool], clock });
    const id = uuid();
    await core.send(message(id, 'Hi'));
    (await rig.next()).call('c1', 'hang').end();
    await running.passed;
    clock.pass(1_000);
    await clock.passUntil(core.interrupt(created(id)));
    expect(await shown(core, id, from)).toEqual([
      ['Hi', 0],
      ['interrupted', 1_000],
    ]);
  });

  it.each([
    ['is made again', 'end', 'Going home'],
    ['is kept as it was shown', 'interrupt', 'Going to'],
    ['is kept by another process that ends it', 'fence', 'Going to'],
  ])('stays what it was when its process died and its text %s', async (_, end, said) => {
    const store = createMemoryStore();
    const clock = new FakeClock();
    const from = clock.now();
    const id = uuid();
    const lost = await sendAndClaim(store, id, { text: 'Hi', claim: LOST, at: from });
    const partial = { partialText: 'Going to', partialSince: from + 500 };
    await store.saveProgress(lost, { messages: [], events: [], ...partial }, from + 900);
    clock.pass(5_000);
    const rig = new ScriptedRig();
    const { core } = testCore({ rigs: [rig], store, clock });
    const before = await shown(core, id, from);
    expect(before).toEqual([
      ['Hi', 0],
      ['Going to', 500],
    ]);
    const sent = { sessionId: id, turnId: lost.id, repeated: false };
    if (end !== 'fence') {
      await core.start();
      const asked = await rig.next();
      expect(await shown(core, id, from)).toEqual(before);
      if (end === 'end') {
        asked.text('Going home');
        await showing(core, sent, 'Going home');
        expect(await shown(core, id, from)).toEqual([
          ['Hi', 0],
          ['Going home', 500],
        ]);
        asked.end();
      }
    }
    if (end !== 'end') await clock.passUntil(core.interrupt(created(id)));
    await core.turnEnded(sent, never);
    expect(await shown(core, id, from)).toEqual([
      ['Hi', 0],
      [said, 500],
    ]);
  });
});
