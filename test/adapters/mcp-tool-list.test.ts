import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { readToolList } from '../../src/adapters/tools/mcp/tool-list.js';
import { keptLog } from '../support/core.js';

const TOOLS = ['a', 'b', 'c', 'd'].map((name) => ({ name, inputSchema: { type: 'object' } }));

function read(compile: () => void, list: readonly unknown[] = TOOLS) {
  const log = keptLog();
  const schemas = {
    compile: () => {
      compile();
      return () => [];
    },
  };
  const tools = readToolList(list, { server: 's', sideEffects: 'none', schemas, log });
  return { tools, log };
}

describe('the tool list of a server', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it('lets other work run between two tools', async () => {
    const order: string[] = [];
    const { tools } = read(() => {
      order.push('compile');
      setImmediate(() => order.push('other'));
    });
    await tools;
    expect(order.slice(0, 7)).toEqual([...Array<string[]>(3).fill(['compile', 'other']).flat(), 'compile']);
  });

  it('is read up to 5 seconds of compiling', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] });
    const { tools, log } = read(() => {
      jest.advanceTimersByTime(3_000);
    });
    expect((await tools).map(({ name }) => name)).toEqual(['s.a', 's.b']);
    expect(log.lines).toHaveLength(1);
    expect(log.lines[0]).toContain('"left":2');
  });

  it('logs 20 unfit tools one by one, and the number of all others', async () => {
    const unfit = Array.from({ length: 1_000 }, () => null);
    const { tools, log } = read(() => undefined, [...unfit, ...TOOLS]);
    expect(await tools).toHaveLength(4);
    expect(log.lines).toHaveLength(21);
    expect(log.lines.at(-1)).toContain('"left":980');
  });
});
