import { getEventListeners } from 'node:events';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { v4 as uuid } from 'uuid';
import { createMemoryStore } from '../../support/memory-store/store.js';
import type { EventBody } from '../../../src/core/model/event.js';
import type { Tool } from '../../../src/core/ports/tool.js';
import { StoreUnavailableError, type Store } from '../../../src/core/ports/store.js';
import { closeTestCores, created, message, spoken, testApp, testCore } from '../../support/core.js';
import { ScriptedRig } from '../../support/scripted-rig.js';
import { climb, getTime } from '../../support/tools.js';

afterEach(closeTestCores);

const CLIENT = 'client-of-16-char';
const never = new AbortController().signal;

const useKey: Tool = {
  ...getTime,
  name: 'use_key',
  run: (_, { secrets }) => Promise.resolve(`used ${String(secrets.get('KEY')?.length)}`),
};

function call(
  id: string,
  name: string,
  fields: { clientId?: string; signal?: AbortSignal; app?: string } = {},
) {
  const asked = { session: created(id), name, args: {}, app: undefined, key: undefined, clientId: undefined };
  return { ...asked, signal: never, ...fields };
}

async function eventsOf(store: Store, id: string): Promise<EventBody[]> {
  const { events } = await store.readEvents(id, 0, 100);
  return events.map(({ body }) => body);
}

describe('a call by a client', () => {
  it('leaves nothing on signals that outlive it', async () => {
    const any = jest.spyOn(AbortSignal, 'any');
    const listen = jest.spyOn(AbortSignal.prototype, 'addEventListener');
    try {
      const { core } = testCore({ rigs: [new ScriptedRig()], tools: [getTime] });
      const { signal } = new AbortController();
      for (let calls = 0; calls < 3; calls++) await core.invokeTool(call(uuid(), 'get_time', { signal }));
      // One of them is the signal that aborts when the service stops.
      const sources = new Set(listen.mock.contexts.filter((source) => source instanceof AbortSignal));
      expect(sources.size).toBeGreaterThan(1);
      expect(sources).toContain(signal);
      for (const source of sources) expect(getEventListeners(source, 'abort')).toEqual([]);
      // Its dependent signals are no listeners: each leaves a reference on its sources.
      expect(any).not.toHaveBeenCalled();
    } finally {
      any.mockRestore();
      listen.mockRestore();
    }
  });

  it('is reported from its announcement to its end, progress in between, in order', async () => {
    const { core, store } = testCore({ rigs: [new ScriptedRig()], tools: [climb] });
    const id = uuid();
    const { callId, ...outcome } = await core.invokeTool(call(id, 'climb'));
    expect(outcome).toEqual({ name: 'climb', result: 'on top' });
    const tool = { callId, toolName: 'climb' };
    expect(await eventsOf(store, id)).toEqual([
      { type: 'tool_update', ...tool },
      { type: 'tool_update', ...tool, message: 'half way' },
      { type: 'tool_complete', ...tool, failed: false, result: 'on top', multiStep: true },
    ]);
  });

  it('keeps that order when the store is slow, and reports nothing after the end', async () => {
    const inner = createMemoryStore();
    const store: Store = {
      ...inner,
      // Each write takes longer than the next.
      async appendEvents(id, events, at) {
        const isProgress = events.some(({ type }) => type === 'tool_update');
        for (let turns = isProgress ? 50 : 0; turns > 0; turns--) await Promise.resolve();
        return inner.appendEvents(id, events, at);
      },
    };
    let late: (() => void) | undefined;
    const talk: Tool = {
      ...climb,
      run: (_, context) => {
        for (const step of ['1', '2', '3']) context.progress(step);
        late = () => {
          context.progress('too late');
        };
        return Promise.resolve('done');
      },
    };
    const { core } = testCore({ rigs: [new ScriptedRig()], tools: [talk], store });
    const id = uuid();
    await core.invokeTool(call(id, 'climb'));
    late?.();
    await core.invokeTool(call(id, 'climb'));
    const told = (await eventsOf(store, id)).map((event) =>
      'message' in event ? event.message : event.type,
    );
    const once = ['tool_update', '1', '2', '3', 'tool_complete'];
    expect(told).toEqual([...once, ...once]);
  });

  it('is reported as ended when its client disconnects, and when the service stops', async () => {
    const gone = new AbortController();
    let started = (): void => undefined;
    const hang: Tool = {
      ...getTime,
      run: () => {
        started();
        return new Promise(() => undefined);
      },
    };
    const { core, store } = testCore({ rigs: [new ScriptedRig()], tools: [hang] });
    const [one, two] = [uuid(), uuid()];
    started = () => {
      gone.abort(new Error('went away'));
    };
    await expect(core.invokeTool(call(one, 'get_time', { signal: gone.signal }))).rejects.toThrow(
      'went away',
    );
    const begun = new Promise<void>((resolve) => (started = resolve));
    const stopped = core.invokeTool(call(two, 'get_time'));
    const refusal = expect(stopped).rejects.toMatchObject({ reason: 'unavailable' });
    await begun;
    await core.drain(0);
    await refusal;
    // The tool is not run: its result would be lost.
    started = () => {
      throw new Error('was run');
    };
    await expect(core.invokeTool(call(two, 'get_time'))).rejects.toMatchObject({ reason: 'unavailable' });
    for (const id of [one, two]) {
      expect((await eventsOf(store, id)).at(-1)).toMatchObject({
        type: 'tool_complete',
        failed: true,
        result: 'interrupted',
      });
    }
  });

  it('is reported as ended on streams before the service ends them', async () => {
    let started = (): void => undefined;
    const begun = new Promise<void>((resolve) => (started = resolve));
    const hang: Tool = {
      ...getTime,
      run: () => {
        started();
        return new Promise(() => undefined);
      },
    };
    const { core } = testCore({ rigs: [new ScriptedRig()], tools: [hang] });
    const id = uuid();
    const feed = await core.updates(created(id), { after: null, turns: false });
    const seen: string[] = [];
    const over = feed.each((update) => {
      seen.push(update.type === 'logged' ? update.event.body.type : update.type);
      return undefined;
    });
    const refusal = expect(core.invokeTool(call(id, 'get_time'))).rejects.toMatchObject({
      reason: 'unavailable',
    });
    await begun;
    await core.drain(0);
    await over;
    expect(seen).toEqual(['tool_update', 'tool_complete']);
    await refusal;
  });

  it('is stored with its outcome when the store fails once', async () => {
    const inner = createMemoryStore();
    let writes = 0;
    const store: Store = {
      ...inner,
      closeCall: (...end) =>
        ++writes === 1 ? Promise.reject(new StoreUnavailableError('down')) : inner.closeCall(...end),
    };
    const { core, log } = testCore({ rigs: [new ScriptedRig()], tools: [climb], store });
    const id = uuid();
    expect(await core.invokeTool(call(id, 'climb'))).toMatchObject({ result: 'on top' });
    expect((await eventsOf(store, id)).at(-1)).toMatchObject({
      ...{ type: 'tool_complete', failed: false, result: 'on top' },
    });
    expect(log.lines.join()).toContain('failed to store the end of a tool call');
  });

  it('fails with the fault of the store, not with that of the report on it', async () => {
    const inner = createMemoryStore();
    let writes = 0;
    const store: Store = {
      ...inner,
      closeCall: () => Promise.reject(new StoreUnavailableError(`down ${String(++writes)}`)),
    };
    const { core, log } = testCore({ rigs: [new ScriptedRig()], tools: [getTime], store });
    await expect(core.invokeTool(call(uuid(), 'get_time'))).rejects.toThrow('down 1');
    expect(log.lines.join()).toContain('failed to store the end of a tool call');
  });
});

describe('a secret whose key is gone', () => {
  async function keepThenLoseKey(app = testApp()) {
    const store = createMemoryStore();
    const parts = { rigs: [new ScriptedRig()], store, apps: [app], tools: [useKey, getTime] };
    const before = testCore(parts).core;
    await before.storeSecrets({
      session: undefined,
      clientId: CLIENT,
      values: { KEY: 'v' },
      app: undefined,
      key: undefined,
    });
    const rig = new ScriptedRig();
    // Each test core has a key of its own.
    return { ...testCore({ ...parts, rigs: [rig] }), rig };
  }

  it('is a failure, in words, of the tool that asks for it, and of no other', async () => {
    const { core, store } = await keepThenLoseKey();
    const id = uuid();
    expect(await core.invokeTool(call(id, 'use_key', { clientId: CLIENT }))).toMatchObject({
      error: expect.stringMatching(/^The secret KEY can no longer be opened.*Store it again/),
    });
    expect(await core.invokeTool(call(id, 'get_time', { clientId: CLIENT }))).toHaveProperty('result');
    expect((await eventsOf(store, id)).map(({ type }) => type)).toEqual([
      ...['tool_update', 'tool_complete'],
      ...['tool_update', 'tool_complete'],
    ]);
  });

  it('does not break a turn: the assistant gets the failure and answers', async () => {
    const { core, rig } = await keepThenLoseKey();
    const id = uuid();
    const sent = await core.send(message(id, 'use it', { clientId: CLIENT }));
    (await rig.next()).call('c1', 'use_key').end();
    const next = await rig.next();
    next.text('I cannot').end();
    await core.turnEnded(sent, never);
    const said = spoken(await core.snapshot(created(id)));
    expect(said).toEqual([
      'user: use it',
      expect.stringMatching(/^use_key = "The secret KEY can no longer be opened/),
      'assistant: I cannot',
    ]);
    expect(JSON.stringify(next.request.messages)).toContain('can no longer be opened');
  });

  it('refuses a message and a call at once where the App requires it', async () => {
    const slot = { name: 'KEY', description: 'The key', required: true };
    const { core, store } = await keepThenLoseKey(testApp({ secrets: [slot] }));
    const id = uuid();
    const words = { reason: 'invalid', message: expect.stringContaining('can no longer be opened') };
    await expect(core.send(message(id, 'hi', { clientId: CLIENT }))).rejects.toMatchObject(words);
    await expect(core.invokeTool(call(id, 'get_time', { clientId: CLIENT }))).rejects.toMatchObject(words);
    expect(await store.loadThread(id)).toBe('unknown');
  });
});
