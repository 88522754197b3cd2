import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { openTestSqlite } from '../support/sqlite.js';
import { Place, UNREAD } from './running.js';

jest.setTimeout(60_000);

const FULL = 'exec >/dev/full';
const NO_SPACE = 'diptych: cannot write the output: no space left on device\n';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.clear());

async function createDatabase(): Promise<void> {
  const store = await openTestSqlite({ path: place.database });
  await store.close();
}

describe('A command whose output nobody reads', () => {
  it('keeps the exit code of its failure', async () => {
    writeFileSync(join(place.directory, 'diptych.yaml'), 'rigs: 5\n');
    expect(await place.runAfter(UNREAD, ['check'])).toEqual({ code: 1, out: '', err: '' });
  });

  it('keeps the exit code of its verdict', async () => {
    await createDatabase();
    const check = ['legacy', 'report', '--check'];
    expect(await place.runAfter(UNREAD, check)).toEqual({ code: 4, out: '', err: '' });
  });

  it('exits with 0 when it succeeds', async () => {
    expect(await place.runAfter(UNREAD, ['apps', 'list'])).toEqual({ code: 0, out: '', err: '' });
  });

  it('keeps its exit code when nobody reads its errors either', async () => {
    const { code } = await place.runAfter(`${UNREAD} && exec 2>&1`, ['sessions', 'show', 'not-a-uuid']);
    expect(code).toBe(2);
  });
});

describe('openOutput', () => {
  it('leaves links to modules resolvable when the output is a pipe', async () => {
    mkdirSync(join(place.directory, 'shared'));
    symlinkSync('shared', join(place.directory, 'linked'));
    const url = 'export default import.meta.url;';
    for (const name of ['early', 'late']) writeFileSync(join(place.directory, 'shared', `${name}.mjs`), url);
    const output = new URL('../../dist/cli/output.js', import.meta.url).href;
    writeFileSync(
      join(place.directory, 'main.mjs'),
      `import { openOutput } from '${output}';
const early = await import('./linked/early.mjs');
const print = openOutput(() => undefined);
const late = await import('./linked/late.mjs');
print.write([early.default, late.default].join(' '));`,
    );
    const running = place.start(join(place.directory, 'main.mjs'), []);
    expect(await running.ended).toBe(0);
    expect(running.out()).toMatch(/\/shared\/early\.mjs .*\/shared\/late\.mjs$/);
  });
});

describe('A command whose output has no room', () => {
  it.each([[['apps', 'list']], [['--help']], [['completion', 'bash']]])(
    '%j reports it in one line, and fails',
    async (args) => {
      expect(await place.runAfter(FULL, args)).toEqual({ code: 1, out: '', err: NO_SPACE });
    },
  );

  it('keeps the exit code of its verdict', async () => {
    await createDatabase();
    const check = ['legacy', 'report', '--check'];
    expect(await place.runAfter(FULL, check)).toEqual({ code: 4, out: '', err: NO_SPACE });
  });

  it('fails when only a part of the output fits in a file', async () => {
    const args = ['completion', 'bash'];
    const { code, err } = await place.runAfter('ulimit -f 1 && exec >output', args);
    const err1 = 'diptych: cannot write the output: file too large\n';
    expect({ code, err }).toEqual({ code: 1, err: err1 });
    expect(readFileSync(join(place.directory, 'output'))).toHaveLength(1024);
  });

  it('appends all of it to a file with room', async () => {
    const { out } = await place.run(['completion', 'bash']);
    await place.runAfter('echo first >output && exec >>output', ['completion', 'bash']);
    expect(readFileSync(join(place.directory, 'output'), 'utf8')).toBe(`first\n${out}`);
  });
});

describe('keys create', () => {
  it.each([
    ['nobody reads', UNREAD, ''],
    ['has no room', FULL, NO_SPACE],
  ])('revokes the key again when its output %s', async (_, preparation, reported) => {
    for (const flags of [[], ['--json']]) {
      const create = ['keys', 'create', '--app', 'default', ...flags];
      const { code, out, err } = await place.runAfter(preparation, create);
      const [id] = /[0-9a-f-]{36}/.exec(err) ?? [];
      expect({ code, out, err }).toEqual({
        ...{ code: 1, out: '' },
        err: `${reported}diptych: The new key could not be shown, so it was revoked again: ${String(id)}\n`,
      });
    }
    const list = await place.run(['keys', 'list', '--json']);
    expect(JSON.parse(list.out)).toMatchObject([{ status: 'revoked' }, { status: 'revoked' }]);
  });
});
