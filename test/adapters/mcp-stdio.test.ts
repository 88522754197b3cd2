import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { systemClock } from '../../src/adapters/platform/uuid/clock.js';
import { createSchemas } from '../../src/adapters/tools/schema/schemas.js';
import { createMcpServers } from '../../src/adapters/tools/mcp/servers.js';
import type { JsonValue } from '../../src/core/model/json.js';
import { ToolRunner } from '../../src/core/tools/tool-runner.js';
import { keptLog, testApp } from '../support/core.js';
import {
  closeMcp,
  isAlive,
  progressOf,
  scripted,
  startMcp,
  toolContext,
  type Started,
} from '../support/mcp.js';
import { getTime } from '../support/tools.js';

afterEach(closeMcp);

jest.setTimeout(30_000); // Children take a while on a machine that is busy.

const isListed =
  (mcp: Started, name = 's.echo') =>
  (): boolean =>
    mcp.servers.list().some((tool) => tool.name === name);

function wordsOf(result: JsonValue): string {
  if (typeof result !== 'string') throw new Error('The result is no text.');
  return result;
}

async function pidOf(mcp: Started): Promise<number> {
  const result = await mcp.call('s.pid');
  if (typeof result !== 'object' || result === null || !('pid' in result)) throw new Error('no pid');
  return Number(result.pid);
}

async function startScripted(env: Record<string, string> = {}, timing = {}): Promise<Started> {
  const mcp = startMcp([scripted('s', env)], timing);
  await mcp.until(isListed(mcp));
  return mcp;
}

describe('tools of a server', () => {
  it('are listed page by page; those that cannot be called are left out and logged', async () => {
    const mcp = await startScripted();
    const tools = mcp.servers.list();
    const names = tools.map(({ name }) => name);
    expect(names).toContain('s.echo');
    expect(names).toContain('s.writes');
    expect(names).toContain('s.bad_output');
    expect(names.filter((name) => /bad.schema|no_schema|task_only/.test(name))).toEqual([]);
    expect(names.filter((name) => name.startsWith('s.spaced'))).toEqual(['s.spaced_name__']);
    for (const left of ['bad schema', 'no_schema', 'task_only', 'spaced_name/é']) {
      expect(
        mcp.log.lines.filter((line) => line.includes('left out') && line.includes(`"${left}"`)),
      ).toHaveLength(1);
    }
    const spaced = mcp.tool('s.spaced_name__');
    expect(spaced.description).toHaveLength(2_001);
    expect(spaced.parameters).toEqual({ type: 'object', properties: {} });
    expect(await mcp.call('s.spaced_name__')).toBe('called spaced name/é');
  });

  it('say what a repetition does', async () => {
    const mcp = await startScripted();
    const of = (name: string): string => mcp.tool(name).sideEffects;
    expect([of('s.reads'), of('s.repeats'), of('s.writes'), of('s.echo')]).toEqual([
      'none',
      'idempotent',
      'yes',
      'yes',
    ]);
    const lax = startMcp([scripted('s', {}, { sideEffects: 'none' })]);
    await lax.until(isListed(lax));
    expect([lax.tool('s.echo').sideEffects, lax.tool('s.writes').sideEffects]).toEqual(['none', 'yes']);
  });

  it('are listed again when the server says so', async () => {
    const mcp = await startScripted();
    const before = mcp.servers.list();
    expect(mcp.servers.list()).toBe(before);
    await mcp.call('s.grow');
    await mcp.until(isListed(mcp, 's.grown'));
    expect(await mcp.call('s.grown')).toBe('called grown');
    expect(mcp.servers.list()).toHaveLength(before.length + 1);
  });

  it('are listed until that succeeds, with one line in the log', async () => {
    const mcp = await startScripted();
    await mcp.call('s.grow', { failures: 3 });
    await mcp.until(isListed(mcp, 's.grown'));
    expect(mcp.log.lines.filter((line) => line.includes('failed to refresh'))).toHaveLength(1);
  });
});

describe('a call', () => {
  it('returns structured content, text, and descriptions of what is neither', async () => {
    const mcp = await startScripted();
    expect(await mcp.call('s.echo', { text: 'hi' })).toBe('hi');
    expect(await mcp.call('s.cancelled')).toEqual({ ids: [], notices: 0 });
    expect(await mcp.call('s.media')).toBe(
      [
        'look:',
        '[image image/png, 300 bytes]',
        '[resource file:///a.bin, 10 bytes]',
        '[resource file:///a.txt text/plain]\ninside',
        '[link A: https://example.com/a]',
      ].join('\n'),
    );
  });

  it('fails with the words of the tool', async () => {
    const mcp = await startScripted();
    await expect(mcp.call('s.fail')).rejects.toThrow('upstream refused "none"');
    await expect(mcp.call('s.reject')).rejects.toThrow(/^bad header: Bearer none$/);
  });

  it('is cancelled at the server when its signal aborts', async () => {
    const mcp = await startScripted();
    const told = progressOf();
    const stop = new AbortController();
    const call = mcp.call('s.hang', { id: 'one' }, { signal: stop.signal, progress: told.progress });
    await told.at('hanging');
    stop.abort(new Error('enough'));
    await expect(call).rejects.toThrow('did not answer in time');
    // The server reads messages in order.
    expect(await mcp.call('s.cancelled')).toEqual({ ids: ['one'], notices: 1 });
  });

  it('logs some of the lines that are no messages, without their words', async () => {
    const mcp = await startScripted();
    expect(await mcp.call('s.print', { text: '{"my name": Alice' })).toBe('printed');
    const lines = mcp.log.lines.filter((line) => line.includes('connection error'));
    expect(lines).toHaveLength(20);
    expect(mcp.log.lines.join()).not.toContain('Alice');
  });

  it('does not cancel after its end', async () => {
    const mcp = await startScripted();
    const stop = new AbortController();
    await mcp.call('s.echo', { text: 'hi' }, { signal: stop.signal });
    stop.abort();
    expect(await mcp.call('s.cancelled')).toEqual({ ids: [], notices: 0 });
    expect(mcp.log.lines.join()).not.toContain('connection error');
  });

  it('has a timeout, and a server that hangs as a whole is restarted', async () => {
    const mcp = startMcp([scripted('s', {}, { timeoutMs: 1_000 })], { pingMs: 300, closeMs: 100 });
    await mcp.until(isListed(mcp));
    const pid = await pidOf(mcp);
    await expect(mcp.call('s.freeze')).rejects.toThrow('The tool server s did not answer in time.');
    await mcp.until(() => mcp.log.lines.filter((line) => line.includes('connected')).length === 2);
    expect(await pidOf(mcp)).not.toBe(pid);
    expect(isAlive(pid)).toBe(false);
  });

  it('answers in words when the result is too large, and the connection lives on', async () => {
    const mcp = await startScripted();
    const pid = await pidOf(mcp);
    await expect(mcp.call('s.huge', { bytes: 5 * 1024 * 1024 })).rejects.toThrow(
      'The result is larger than 4 MiB',
    );
    expect(await pidOf(mcp)).toBe(pid);
    const cut = await mcp.call('s.huge', { bytes: 1024 * 1024 });
    expect(cut).toHaveLength(262_145);
    await expect(mcp.call('s.many', { values: 40_000 })).rejects.toThrow('has too many values');
    expect(await mcp.call('s.many', { values: 1_000 })).toEqual({ list: Array(1_000).fill(0) });
    expect(await pidOf(mcp)).toBe(pid);
  });
});

describe('a server that dies', () => {
  it('in mid-call fails the call in words and comes back', async () => {
    const mcp = await startScripted();
    const told = progressOf();
    await expect(mcp.call('s.die', {}, { progress: told.progress })).rejects.toThrow(
      'The tool server s went away; whether the call took effect is not known.',
    );
    expect(told.all).toEqual(['dying']);
    expect(await mcp.call('s.echo', { text: 'back' })).toBe('back');
  });

  it('by a signal is started again, and nothing is left of it', async () => {
    const mcp = await startScripted();
    const first = await pidOf(mcp);
    process.kill(first, 'SIGKILL');
    await mcp.until(() => mcp.log.lines.some((line) => line.includes('connection ended')));
    const second = await pidOf(mcp);
    expect(second).not.toBe(first);
    expect(isAlive(first)).toBe(false);
  });

  it('and stays down keeps its tools, which fail in words, and costs its App nothing else', async () => {
    const flag = `DOWN_${String(process.pid)}`;
    const mcp = await startScripted(
      { [flag]: '1' },
      { firstRetryMs: 60_000, maxRetryMs: 60_000, graceMs: 50 },
    );
    process.kill(await pidOf(mcp), 'SIGKILL');
    await mcp.until(() => mcp.log.lines.some((line) => line.includes('connection ended')));
    expect(mcp.servers.states()).toEqual([
      { name: 's', problem: 'The connection ended.', tools: mcp.servers.list().length },
    ]);
    const tools = [getTime, ...mcp.servers.list()];
    const toolbox = new ToolRunner(
      { list: () => tools },
      createSchemas(),
      { toolTimeoutMs: 5_000 },
      systemClock,
      keptLog(),
    );
    const run = (name: string) =>
      toolbox.run(
        testApp({ tools: ['get_time'], toolServers: ['s'] }),
        { callId: '1', name, args: {} },
        toolContext(),
        () => undefined,
      );
    expect(await run('s.echo')).toMatchObject({
      failed: true,
      result: 'The tool server s is down at the moment.',
    });
    expect(await run('get_time')).toMatchObject({ failed: false, result: { time: '12:00' } });
  });

  it('or was never there costs its own tools only, and is tried again', async () => {
    const lost = scripted('lost');
    const mcp = startMcp([
      { ...lost, transport: { kind: 'stdio', command: '/nowhere/server', args: [], env: {}, cwd: null } },
      scripted('s'),
    ]);
    await mcp.until(isListed(mcp));
    expect(await mcp.call('s.echo', { text: 'here' })).toBe('here');
    expect(mcp.servers.list().some(({ name }) => name.startsWith('lost.'))).toBe(false);
    await mcp.servers.tried(AbortSignal.timeout(20_000));
    expect(mcp.servers.states()[0]).toEqual({
      name: 'lost',
      problem: 'The tool server lost cannot be reached at the moment.',
      tools: 0,
    });
    expect(mcp.log.lines.filter((line) => line.includes('failed to connect'))).toHaveLength(1);
  });
});

describe('a command that ends before it is connected', () => {
  it('is reported without a call, of which there was none', async () => {
    const args = ['-e', "process.stdin.once('data', () => process.exit())"];
    const mcp = startMcp([
      {
        ...scripted('s'),
        transport: { kind: 'stdio', command: process.execPath, args, env: {}, cwd: null },
      },
    ]);
    await mcp.servers.tried(AbortSignal.timeout(20_000));
    expect(mcp.servers.states()[0]?.problem).toBe('The tool server s went away.');
  });
});

describe('a child', () => {
  it('gets few variables of the environment and those of its settings', async () => {
    process.env.DIPTYCH_TEST_PRIVATE = 'not for children';
    try {
      const mcp = startMcp([
        {
          name: 'everything',
          transport: {
            kind: 'stdio',
            command: process.execPath,
            args: ['node_modules/@modelcontextprotocol/server-everything/dist/index.js', 'stdio'],
            env: { GIVEN: 'yes' },
            cwd: null,
          },
          timeoutMs: null,
          sideEffects: 'yes',
        },
      ]);
      await mcp.until(isListed(mcp, 'everything.get-env'));
      const seen: unknown = JSON.parse(wordsOf(await mcp.call('everything.get-env')));
      expect(seen).toMatchObject({ GIVEN: 'yes', PATH: process.env.PATH });
      expect(seen).not.toHaveProperty('DIPTYCH_TEST_PRIVATE');
    } finally {
      delete process.env.DIPTYCH_TEST_PRIVATE;
    }
  });

  it.each([
    ['heeds nothing is killed', { STUBBORN: '1', CHILD: '1' }, 200],
    ['heeds the end of its input is gone', { CHILD: '1' }, 20_000],
  ])('that %s after close, with what it has started', async (_, env, closeMs) => {
    const mcp = await startScripted(env, { closeMs });
    const pid = await pidOf(mcp);
    const line = mcp.log.lines.find((one) => one.includes('child '));
    const grandchild = Number(/child (\d+)/.exec(line ?? '')?.[1]);
    expect([isAlive(pid), isAlive(grandchild)]).toEqual([true, true]);
    await mcp.servers.close();
    expect(isAlive(pid)).toBe(false);
    // It is nobody's child now: the system takes it away in its own time.
    for (let n = 0; n < 200 && isRunning(grandchild); n++)
      await new Promise((resolve) => setTimeout(resolve, 10));
    expect(isRunning(grandchild)).toBe(false);
  });

  it('that is just being started is gone after close', async () => {
    const log = keptLog();
    const servers = createMcpServers([scripted('s')], {
      ...{ log, schemas: createSchemas(), env: process.env, version: '0.0.0' },
    });
    servers.start();
    await servers.close();
    expect(servers.list()).toEqual([]);
    await expect(servers.close()).resolves.toBeUndefined();
  });

  it('may write to stderr until it is connected; no more is logged', async () => {
    const mcp = await startScripted({ NOISE: `starting\n${'n'.repeat(2_000)}` });
    const said = mcp.log.lines.filter((line) => line.includes('tool server: stderr'));
    expect(said[0]).toContain('starting');
    expect(said.every((line) => line.length < 700)).toBe(true);
    await mcp.call('s.mutter', { text: 'what a person wrote' });
    await mcp.servers.close();
    expect(mcp.log.lines.join()).not.toContain('what a person wrote');
  });
});

/** True while there is such a process that is no zombie. */
function isRunning(pid: number): boolean {
  if (!isAlive(pid)) return false;
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${String(pid)}/status`, 'utf8'));
  } catch {
    return false;
  }
}
