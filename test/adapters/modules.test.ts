import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { createSchemas } from '../../src/adapters/tools/schema/schemas.js';
import { loadToolModules, ToolModuleError } from '../../src/adapters/tools/modules/modules.js';
import { isInternalError, type Tool } from '../../src/core/ports/tool.js';
import { withFolder } from '../support/folder.js';
import { toolContext } from '../support/mcp.js';

const load = (
  folder: string,
  patterns: readonly string[],
  taken: readonly string[] = [],
): Promise<readonly Tool[]> => loadToolModules(patterns, { folder, schemas: createSchemas(), taken });

function write(folder: string, files: Record<string, string>): void {
  for (const [name, source] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), source);
  }
}

const tool = (name: string, fields = ''): string =>
  `{ name: '${name}', description: 'Does it.', parameters: { type: 'object' }, sideEffects: 'none', run: () => 1, ${fields} }`;

async function mistakesOf(loading: Promise<unknown>): Promise<string[]> {
  try {
    await loading;
  } catch (error) {
    if (error instanceof ToolModuleError) return error.message.split('\n');
    throw error;
  }
  return [];
}

describe('modules of tools', () => {
  it('are loaded in the order of patterns and names, each file once', async () => {
    await withFolder(async (folder) => {
      write(folder, {
        'tools/b.mjs': `export const tool = ${tool('b')};`,
        'tools/a.mjs': `export const tools = [${tool('a2')}, ${tool('a1')}]; export const other = 1;`,
        'tools/.hidden.mjs': `export const tool = ${tool('hidden')};`,
        'tools/notes.txt': 'no module',
        'more/one/c.mjs': `export const tool = ${tool('c')};`,
        'more/two/c.mjs': `export const tool = ${tool('d', 'timeoutMs: 5')};`,
      });
      const tools = await load(folder, [
        'more/*/?.mjs',
        './tools/*.mjs',
        'tools/b.mjs',
        join(folder, 'tools/b.mjs'),
      ]);
      expect(tools.map(({ name }) => name)).toEqual(['c', 'd', 'a2', 'a1', 'b']);
      expect(tools.map(({ timeoutMs }) => timeoutMs)).toEqual([null, 5, null, null, null]);
    });
    expect(await load('/nowhere', [])).toEqual([]);
  });

  it('run with the context, and return what JSON can carry', async () => {
    await withFolder(async (folder) => {
      const run = `async (args, { wallet, userState, secrets, progress, signal }) => {
        progress('looking');
        signal.throwIfAborted();
        return { args, wallet, userState, key: secrets.get('API_KEY'), when: new Date(0), none: undefined };
      }`;
      write(folder, {
        't.mjs': `export const tools = [
          ${tool('look').replace('() => 1', run)},
          ${tool('nothing').replace('() => 1', '() => {}')},
          ${tool('big').replace('() => 1', '() => 1n')},
          ${tool('odd').replace('() => 1', '() => () => 1')},
          ${tool('fails').replace('() => 1', "() => { throw new Error('no such coin') }")},
          ${tool('unread').replace('() => 1', "() => { throw new TypeError('not a coin') }")},
          ${tool('words').replace(
            '() => 1',
            `(args, { progress }) => {
            for (const words of [undefined, 5n, { page: 2 }]) progress(words);
            throw Object.assign(new Error(), { message: { code: 5n } });
          }`,
          )},
        ];`,
      });
      const [look, nothing, big, odd, fails, unread, words] = await load(folder, ['t.mjs']);
      const told: string[] = [];
      const context = toolContext({
        wallet: '0xabc',
        userState: { tree: { evm: { address: '0x9' }, theme: 'dark' }, flat: false },
        secrets: new Map([['API_KEY', 'k']]),
        progress: (words) => told.push(words),
      });
      expect(await look?.run({ coin: 'x' }, context)).toEqual({
        ...{ args: { coin: 'x' }, wallet: '0xabc', key: 'k' },
        userState: { evm: { address: '0x9' }, theme: 'dark' },
        when: '1970-01-01T00:00:00.000Z',
      });
      expect(told).toEqual(['looking']);
      const stopped = toolContext({ signal: AbortSignal.abort(new Error('stopped')) });
      await expect(look?.run({}, stopped)).rejects.toThrow('stopped');
      expect(await nothing?.run({}, context)).toBeNull();
      await expect(big?.run({}, context)).rejects.toThrow("The tool's result cannot be serialized as JSON");
      await expect(odd?.run({}, context)).rejects.toThrow("The tool's result cannot be serialized as JSON");
      await expect(fails?.run({}, context)).rejects.toThrow(/^no such coin$/);
      const shown = unread
        ?.run({}, context)
        .catch((error: unknown) => [isInternalError(error), String(error)]);
      expect(await shown).toEqual([false, 'Error: not a coin']);
      await expect(words?.run({}, context)).rejects.toThrow(/^{ code: 5n }$/);
      expect(told).toEqual(['looking', 'undefined', '5n', '{ page: 2 }']);
    });
  });

  it('change neither the stored arguments nor the user state of the session', async () => {
    await withFolder(async (folder) => {
      const run = `(args, { userState }) => {
        args.count ??= 10;
        args.filter.coins.push('btc');
        delete args.note;
        userState.evm.address = '0x2';
        return args;
      }`;
      write(folder, { 't.mjs': `export const tool = ${tool('defaults').replace('() => 1', run)};` });
      const [defaults] = await load(folder, ['t.mjs']);
      const args = { filter: { coins: ['eth'] }, note: 'x' };
      const tree = { evm: { address: '0x1' } };
      const context = toolContext({ userState: { tree, flat: true } });
      expect(await defaults?.run(args, context)).toEqual({ count: 10, filter: { coins: ['eth', 'btc'] } });
      expect(args).toEqual({ filter: { coins: ['eth'] }, note: 'x' });
      expect(tree).toEqual({ evm: { address: '0x1' } });
    });
  });

  it('are refused with every mistake: file, export, field, and what would be right', async () => {
    await withFolder(async (folder) => {
      write(folder, {
        'a.mjs': `export const tool = {
          name: 'two words', description: ' ', parameters: { type: 'array' }, sideEffects: 'maybe', timeoutMs: 0.5,
          timeout: 5, execute: () => 1,
        };`,
        'b.mjs': `export const tools = [${tool('same')}, ${tool('same')}, ${tool('get_time')}, 7];`,
        'c.mjs': 'export default {}; export const run = 1;',
        'd.mjs': 'export const tool = ;',
        'e.mjs': "throw new TypeError('no database')",
        'f.mjs': `export const tools = ${tool('f')};`,
        'g.mjs': `export const tools = [
          { ...${tool('g1')}, parameters: { type: 'object', properties: { a: { type: 'nonsense' } } } },
          { ...${tool('g2')}, parameters: { type: 'object', check() {} } },
          { ...${tool('g3')}, parameters: new (class Schema { type = 'object' })() },
          { ...${tool('g4')}, get name() { throw new RangeError('no name yet') } },
          { ...${tool('g5')}, parameters: { type: 'object', properties: { a: { type: 'number', maximum: Infinity } } } },
        ];`,
        'h.txt': '',
      });
      const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => `${name}.mjs`);
      const patterns = [...names, 'h.txt', 'tools/*.mjs', 'tools/**/x.mjs', ' '];
      const mistakes = await mistakesOf(load(folder, patterns, ['get_time']));
      const fields = 'name, description, parameters, sideEffects, timeoutMs, run';
      expect(mistakes).toEqual([
        `tools: tools/*.mjs: matches no file in ${folder}`,
        'tools: tools/**/x.mjs: contains "**", which is not supported; name each folder',
        `tools:  : matches no file in ${folder}`,
        'a.mjs: tool.name: must have 1 to 64 letters, digits, dashes or underscores',
        'a.mjs: tool.description: must say in 1 to 4000 characters what the tool does',
        "a.mjs: tool.parameters.type: must be 'object'",
        "a.mjs: tool.sideEffects: must be 'none', 'idempotent' or 'yes'",
        'a.mjs: tool.timeoutMs: must be a whole number of milliseconds from 1 on; absent: TOOL_TIMEOUT',
        'a.mjs: tool.run: must be a function (args, context) => result',
        `a.mjs: tool.timeout: is not a known field; known are ${fields}`,
        `a.mjs: tool.execute: is not a known field; known are ${fields}`,
        'b.mjs: tools[1].name: "same" is already the name of b.mjs: tools[0]',
        'b.mjs: tools[2].name: "get_time" is already the name of a built-in tool',
        'b.mjs: tools[3]: must be an object with name, description, parameters, …',
        'c.mjs: must export `tool` or `tools`, but exports default, run',
        expect.stringMatching(/^d\.mjs: cannot be loaded: SyntaxError: /),
        'e.mjs: cannot be loaded: TypeError: no database',
        'f.mjs: tools: must be a list; export a single tool as `tool`',
        expect.stringMatching(/^g\.mjs: tools\[0\]\.parameters: must be a JSON Schema: /),
        expect.stringMatching(/^g\.mjs: tools\[1\]\.parameters: must be a JSON Schema as plain data/),
        expect.stringMatching(/^g\.mjs: tools\[2\]\.parameters: must be a JSON Schema as plain data/),
        'g.mjs: tools[3]: cannot be read: RangeError: no name yet',
        expect.stringMatching(/^g\.mjs: tools\[4\]\.parameters: must be a JSON Schema as plain data/),
        'h.txt: must be an ES module whose name ends in .mjs or .js',
      ]);
    });
  });

  it('work as docs/tool-modules.md shows them', async () => {
    await withFolder(async (folder) => {
      const guide = readFileSync('docs/tool-modules.md', 'utf8');
      const source = /```js\n([^]*?)```/.exec(guide)?.[1] ?? '';
      write(folder, { 'example.mjs': source });
      const tools = await load(folder, ['example.mjs']);
      expect(tools.length).toBeGreaterThan(0);
      for (const one of tools) expect(one.description).not.toBe('');
    });
  });
});
