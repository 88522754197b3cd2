import { afterEach, describe, expect, it } from '@jest/globals';
import { v4 as uuid } from 'uuid';
import { createMemoryStore } from '../../support/memory-store/store.js';
import type { ToolResult } from '../../../src/core/model/message.js';
import type { Tool, ToolContext } from '../../../src/core/ports/tool.js';
import type { Store } from '../../../src/core/ports/store.js';
import { closeTestCores, collect, collectUntil, created, message, testCore } from '../../support/core.js';
import { ScriptedRig } from '../../support/scripted-rig.js';
import { Gate } from '../../support/gate.js';
import { climb } from '../../support/tools.js';

afterEach(closeTestCores);

const never = new AbortController().signal;

function climbing(run: (context: ToolContext) => Promise<string>, fields: Partial<Tool> = {}): Tool {
  return { ...climb, ...fields, run: (_, context) => run(context) };
}

/** Starts a turn whose rig calls the tool; resolves once the tool's progress is stored. */
async function climbs(tool: Tool, store: Store = createMemoryStore()) {
  const rig = new ScriptedRig();
  const { core, log } = testCore({ rigs: [rig], tools: [tool], store });
  const id = uuid();
  const updates = await core.updates(created(id), { after: null, turns: false });
  const sent = await core.send(message(id, 'Climb'));
  const feed = await core.watchTurn(sent);
  (await rig.next()).call('c1', 'climb').end();
  await collectUntil(
    updates,
    (update) =>
      update.type === 'logged' && update.event.body.type === 'tool_update' && 'message' in update.event.body,
  );
  return { core, rig, store, id, sent, feed, log };
}

async function resultsOf(feed: Awaited<ReturnType<typeof climbs>>['feed']): Promise<ToolResult[]> {
  const updates = await collect(feed);
  return updates.flatMap((update) => (update.type === 'tool_returned' ? [update.result] : []));
}

/** Whether the logged end of each call says that the call had several steps. */
async function logged(store: Store, id: string): Promise<readonly unknown[]> {
  const { events } = await store.readEvents(id, 0, 99);
  return events.flatMap(({ body }) => (body.type === 'tool_complete' ? [body.multiStep] : []));
}

const half = (context: ToolContext): void => {
  context.progress('half way');
};

describe('a tool that has reported progress', () => {
  it.each<[string, Tool, string]>([
    ['fails', climbing((to) => (half(to), Promise.reject(new Error('slipped')))), 'slipped'],
    [
      'takes too long',
      climbing((to) => (half(to), new Promise(() => undefined)), { timeoutMs: 10 }),
      'The tool did not answer within 0.01 s',
    ],
  ])('ends as a multi-step call when it %s', async (_, tool, words) => {
    const { rig, feed, store, id } = await climbs(tool);
    (await rig.next()).text('Oh.').end();
    expect(await resultsOf(feed)).toMatchObject([
      { ...{ callId: 'c1', name: 'climb', result: words }, failed: true, multiStep: true },
    ]);
    expect(await logged(store, id)).toEqual([true]);
  });

  it('ends as a multi-step call when its turn is interrupted', async () => {
    const waits = climbing((to) => (half(to), new Promise(() => undefined)));
    const { core, id, feed, store } = await climbs(waits);
    await core.interrupt(created(id));
    expect(await resultsOf(feed)).toMatchObject([{ result: 'interrupted', failed: true, multiStep: true }]);
    expect(await logged(store, id)).toEqual([true]);
  });

  it('logs no failure for progress that an interrupt discards', async () => {
    const memory = createMemoryStore();
    const isInterrupted = new Gate();
    const store: Store = {
      ...memory,
      async saveProgress(turn, progress, at) {
        const isSecond = progress.events.some((event) => 'message' in event && event.message === 'second');
        if (isSecond) await isInterrupted.passed;
        return memory.saveProgress(turn, progress, at);
      },
    };
    const reports = climbing((context) => {
      for (const words of ['first', 'second', 'third']) context.progress(words);
      context.signal.addEventListener('abort', () => {
        isInterrupted.open();
      });
      return new Promise(() => undefined);
    });
    const { core, id, log } = await climbs(reports, store);
    await core.interrupt(created(id));
    expect(log.lines).toEqual([]);
  });

  it('ends as a multi-step call when its process dies and its outcome is unknown', async () => {
    const waits = climbing((to) => (half(to), new Promise(() => undefined)), { sideEffects: 'yes' });
    const { store, sent } = await climbs(waits);
    await store.takeOver(sent.turnId, { owner: 'dead', milliseconds: -1 });
    const { core } = testCore({ rigs: [new ScriptedRig()], tools: [waits], store });
    await core.start();
    await core.turnEnded(sent, never);
    const results = await resultsOf(await core.watchTurn(sent));
    expect(results).toMatchObject([{ result: 'outcome unknown', failed: true, multiStep: true }]);
  });

  it('ends as a multi-step call when another process repeats it without progress', async () => {
    const waits = climbing((to) => (half(to), new Promise(() => undefined)), { sideEffects: 'none' });
    const { store, sent } = await climbs(waits);
    await store.takeOver(sent.turnId, { owner: 'dead', milliseconds: -1 });
    const rig = new ScriptedRig();
    const { core } = testCore({ rigs: [rig], tools: [climbing(() => Promise.resolve('on top'))], store });
    await core.start();
    (await rig.next()).text('Well.').end();
    await core.turnEnded(sent, never);
    const results = await resultsOf(await core.watchTurn(sent));
    expect(results).toMatchObject([{ result: 'on top', failed: false, multiStep: true }]);
  });
});

describe('a tool without progress', () => {
  it('ends as a plain call', async () => {
    const rig = new ScriptedRig();
    const store = createMemoryStore();
    const { core } = testCore({ rigs: [rig], tools: [climbing(() => Promise.resolve('on top'))], store });
    const id = uuid();
    const sent = await core.send(message(id, 'Climb'));
    (await rig.next()).call('c1', 'climb').end();
    (await rig.next()).text('Well.').end();
    await core.turnEnded(sent, never);
    expect(await logged(store, id)).toEqual([undefined]);
  });
});
