import { describe, expect, it } from '@jest/globals';
import { systemClock } from '../../../src/adapters/platform/uuid/clock.js';
import { StoreError } from '../../../src/adapters/stores/store-error.js';
import { createSchemas } from '../../../src/adapters/tools/schema/schemas.js';
import type { App } from '../../../src/core/model/app.js';
import type { JsonObject } from '../../../src/core/model/json.js';
import { StoreUnavailableError } from '../../../src/core/ports/store.js';
import type { Tool, ToolContext, ToolDescription } from '../../../src/core/ports/tool.js';
import { MAX_RESULT_BYTES, ToolRunner } from '../../../src/core/tools/tool-runner.js';
import { keptLog, testApp } from '../../support/core.js';

const never = new AbortController().signal;

function tool(name: string, run: Tool['run'], fields: Partial<Tool> = {}): Tool {
  const parameters = { type: 'object' };
  return {
    name,
    description: `Does ${name}.`,
    parameters,
    sideEffects: 'none',
    timeoutMs: null,
    run,
    ...fields,
  };
}

const say = (name: string) => tool(name, () => Promise.resolve(name));

function box(...tools: Tool[]) {
  const log = keptLog();
  let list = tools;
  const toolbox = new ToolRunner(
    { list: () => list },
    createSchemas(),
    { toolTimeoutMs: 60_000 },
    systemClock,
    log,
  );
  return {
    toolbox,
    log,
    change: (...others: Tool[]): void => {
      list = others;
    },
  };
}

async function run(
  toolbox: ToolRunner,
  name: string,
  options: { args?: JsonObject; secrets?: Record<string, string>; signal?: AbortSignal; app?: App } = {},
) {
  const reports: string[] = [];
  const { args = {}, secrets = {}, signal = never, app = testApp() } = options;
  const context: Omit<ToolContext, 'progress'> = {
    ...{ sessionId: 's', callId: 'c', turn: null, app: 'default', wallet: null, userState: null, signal },
    secrets: new Map(Object.entries(secrets)),
  };
  const result = await toolbox.run(app, { callId: 'c', name, args }, context, (message) =>
    reports.push(message),
  );
  return { ...result, reports };
}

describe('which tools an App has', () => {
  const all = ['time', 'sum', 'srv.read', 'srv.write', 'other.read'].map(say);
  it.each<readonly [Partial<App>, readonly string[]]>([
    [{}, ['time', 'sum']],
    [{ tools: [] }, []],
    [{ tools: ['sum', 'time', 'none'] }, ['sum', 'time']],
    [{ tools: ['srv.read'] }, []],
    [{ toolServers: ['srv'] }, ['time', 'sum', 'srv.read', 'srv.write']],
    [{ toolServers: ['srv'], tools: ['srv.write', 'time'] }, ['srv.write', 'time']],
    [{ toolServers: ['srv', 'other'], tools: ['srv.write'] }, ['srv.write', 'other.read']],
  ])('%j: %j', (fields, names) => {
    const { toolbox } = box(...all);
    const app = testApp(fields);
    expect(toolbox.describe(app, { hasWallet: false }).map(({ name }) => name)).toEqual(names);
    for (const { name } of all) expect(toolbox.find(app, name) !== undefined).toBe(names.includes(name));
  });

  it('follows the source as it changes', async () => {
    const { toolbox, change } = box(say('one'));
    const app = testApp();
    expect(toolbox.describe(app, { hasWallet: false })).toBe(toolbox.describe(app, { hasWallet: false }));
    change(say('two'));
    expect(toolbox.describe(app, { hasWallet: false }).map(({ name }) => name)).toEqual(['two']);
    expect(await run(toolbox, 'one')).toMatchObject({ failed: true, result: 'There is no tool named one' });
    expect([toolbox.isRepeatable('two'), toolbox.isRepeatable('one')]).toEqual([true, false]);
  });
});

describe('the tools that need a wallet', () => {
  const unrestricted = { chains: null, recipients: null, maxValue: null, maxDailyValue: null };
  const names = (tools: readonly ToolDescription[]) => tools.map(({ name }) => name);

  it('are offered to Apps that may ask wallets, and to sessions that have one', () => {
    const { toolbox } = box(say('time'), { ...say('ask'), needsWallet: true });
    const app = testApp({ wallet: unrestricted });
    expect(names(toolbox.describe(app, { hasWallet: true }))).toEqual(['time', 'ask']);
    expect(names(toolbox.describe(app, { hasWallet: false }))).toEqual(['time']);
    expect(names(toolbox.describe(testApp(), { hasWallet: true }))).toEqual(['time']);
    expect(toolbox.find(app, 'ask')?.name).toBe('ask');
    expect(toolbox.find(testApp(), 'ask')).toBeUndefined();
  });

  it('are described once for sessions with a wallet, and once for those without', () => {
    const { toolbox } = box(say('time'), { ...say('ask'), needsWallet: true });
    const app = testApp({ wallet: unrestricted });
    for (const hasWallet of [true, false]) {
      expect(toolbox.describe(app, { hasWallet })).toBe(toolbox.describe(app, { hasWallet }));
    }
  });
});

describe('a call', () => {
  it('gives the value of the tool', async () => {
    const { toolbox } = box(tool('echo', (args) => Promise.resolve({ args })));
    expect(await run(toolbox, 'echo', { args: { a: 1 } })).toEqual({
      ...{ callId: 'c', name: 'echo', result: { args: { a: 1 } }, failed: false, multiStep: false },
      reports: [],
    });
  });

  it('reports what is wrong with its arguments, and does not run', async () => {
    const parameters = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    let runs = 0;
    const { toolbox } = box(tool('count', () => Promise.resolve(++runs), { parameters }));
    const { failed, result } = await run(toolbox, 'count', { args: { n: 'x' } });
    expect([failed, runs]).toEqual([true, 0]);
    expect(result).toMatch(/args\.n/);
  });

  it.each<readonly [string, Tool['run'], string]>([
    ['rejects', () => Promise.reject(new Error('it rained')), 'it rained'],
    [
      'throws',
      () => {
        throw new Error('at once');
      },
      'at once',
    ],
    ['fails without words', () => Promise.reject(new Error('')), 'The tool failed'],
  ])('that %s is a failed result in words, and its words are not logged', async (_name, fails, words) => {
    const { toolbox, log } = box(tool('fall', fails));
    expect(await run(toolbox, 'fall')).toMatchObject({ failed: true, result: words });
    expect(log.lines).toHaveLength(1);
    expect(log.lines.join()).not.toContain(words);
  });

  it.each([
    new TypeError('rows.map is not a function'),
    new RangeError('Too many parameter values were provided'),
    new StoreUnavailableError('the disk with /srv/a.db is full'),
    new StoreError('the database refused a write'),
  ])('that fails with %s shows no internals, and the error is logged', async (error) => {
    const { toolbox, log } = box(tool('fall', () => Promise.reject(error)));
    expect(await run(toolbox, 'fall')).toMatchObject({ failed: true, result: 'The tool failed' });
    expect(log.fields).toEqual([{ tool: 'fall', call: 'c', err: error }]);
  });

  it('does not run with a number that cannot be stored', async () => {
    const { toolbox } = box(say('time'));
    const args = JSON.parse('{"in": [{"seconds": 1e999}]}') as JsonObject;
    expect(await run(toolbox, 'time', { args })).toMatchObject({
      failed: true,
      result: expect.stringContaining('must not have a number that is too large'),
    });
  });

  it('that takes too long is a failed result, and the tool is aborted', async () => {
    let told: unknown;
    const hang: Tool['run'] = (_, { signal }) =>
      new Promise(() => {
        signal.addEventListener('abort', () => {
          told = signal.reason;
        });
      });
    const { toolbox, log } = box(tool('hang', hang, { timeoutMs: 30 }));
    const { failed, result } = await run(toolbox, 'hang');
    expect([failed, result]).toEqual([true, 'The tool did not answer within 0.03 s']);
    expect(told).toMatchObject({ name: 'TimeoutError', message: result });
    expect(log.fields).toEqual([{ tool: 'hang', call: 'c', reason: 'TimeoutError' }]);
  });

  it('throws the reason when it is stopped, whether the tool heeds it or not', async () => {
    const stop = new AbortController();
    const { toolbox } = box(
      tool('hang', () => {
        stop.abort(new Error('stopped'));
        return new Promise(() => undefined);
      }),
    );
    await expect(run(toolbox, 'hang', { signal: stop.signal })).rejects.toThrow('stopped');
  });

  it('does not begin after it was aborted', async () => {
    let hasRun = false;
    const { toolbox } = box(
      tool('pay', () => {
        hasRun = true;
        return Promise.resolve('paid');
      }),
    );
    const signal = AbortSignal.abort(new Error('stopped'));
    await expect(run(toolbox, 'pay', { signal })).rejects.toThrow('stopped');
    expect(hasRun).toBe(false);
  });

  it('cuts a long result, between two characters', async () => {
    const { toolbox } = box(tool('talk', () => Promise.resolve(`x${'é'.repeat(MAX_RESULT_BYTES)}`)));
    const { result } = await run(toolbox, 'talk');
    expect(result).toMatch(/^xé+… \[cut: the result has 131073 bytes\]$/);
  });

  it('may report progress, within bounds, which makes it a multi-step one', async () => {
    const { toolbox } = box(
      tool('climb', (_, context) => {
        for (let n = 0; n < 1000; n++) context.progress(String(n));
        return Promise.resolve('top');
      }),
    );
    const { multiStep, reports } = await run(toolbox, 'climb');
    expect([multiStep, reports.length, reports[199]]).toEqual([true, 200, '199']);
  });
});

describe('the secrets of a call', () => {
  const secrets = { KEY: 'v3ry-s3cret' };
  it('reach the tool, and leave it in no result, progress, failure or log', async () => {
    const { toolbox, log } = box(
      tool('good', (_, context) => {
        const key = context.secrets.get('KEY') ?? '';
        context.progress(`with ${key}`);
        return Promise.resolve({ got: key === 'v3ry-s3cret', [key]: [{ key: `<${key}>` }] });
      }),
      tool('bad', (_, context) => Promise.reject(new Error(`401 for ${context.secrets.get('KEY') ?? ''}`))),
    );
    expect(await run(toolbox, 'good', { secrets })).toMatchObject({
      result: { got: true, '$SECRET:KEY': [{ key: '<$SECRET:KEY>' }] },
      reports: ['with $SECRET:KEY'],
    });
    expect(await run(toolbox, 'bad', { secrets })).toMatchObject({
      result: '401 for $SECRET:KEY',
      failed: true,
    });
    expect(log.lines.join()).not.toContain('v3ry');
  });

  it('are taken out before a long result is cut, so that no part of one is left', async () => {
    const { toolbox } = box(
      tool('talk', (_, context) =>
        Promise.resolve('x'.repeat(MAX_RESULT_BYTES - 5) + (context.secrets.get('KEY') ?? '')),
      ),
    );
    expect((await run(toolbox, 'talk', { secrets })).result).toMatch(/x\$SECR… \[cut/);
  });
});
