import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Place } from '../cli/running.js';
import { ROOT } from '../support/server-process.js';

/** What each example of the page prints, in their order. */
const PRINTED = [
  /^running calculate \{ expression: '12\*\(3\+4\)' \} undefined\ncomplete calculate .*\n[^]*ended: complete\n$/,
  /^Remember the number 7\n.*7.*\n$/,
  // Nothing is pending in a new session.
  /^$/,
  /^refused 401 unauthenticated false true\n$/,
];

const place = new Place();
const files: string[] = [];
let url = '';

beforeAll(async () => {
  ({ url } = await place.serve());
  mkdirSync(join(place.directory, 'node_modules/@diptych'), { recursive: true });
  symlinkSync(join(ROOT, 'packages/client'), join(place.directory, 'node_modules/@diptych/client'));
  writeFileSync(join(place.directory, 'package.json'), '{"type":"module"}');
  const page = readFileSync(join(ROOT, 'docs/client.md'), 'utf8');
  for (const [, code = ''] of page.matchAll(/```ts\n([^]*?)```/g)) {
    const file = join(place.directory, `example-${String(files.length)}`);
    writeFileSync(`${file}.ts`, code);
    writeFileSync(`${file}.js`, code.replaceAll('http://127.0.0.1:8080', url));
    files.push(file);
  }
});
afterAll(() => place.clear());

describe('the examples of docs/client.md', () => {
  it('are all checked here', () => {
    expect(files).toHaveLength(PRINTED.length);
  });

  it.each(PRINTED.map((printed, index) => [index, printed] as const))(
    'number %s runs',
    async (index, printed) => {
      const run = place.start(`${files[index] ?? ''}.js`, []);
      expect({ code: await run.ended, err: run.err() }).toEqual({ code: 0, err: '' });
      expect(run.out()).toMatch(printed);
    },
  );

  it('have the right types in a strict project for browsers', () => {
    const flags = '--noEmit --strict --skipLibCheck --target es2023 --module nodenext --lib es2023,dom'.split(
      ' ',
    );
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const sources = files.map((file) => `${file}.ts`);
    const { status, stdout } = spawnSync(process.execPath, [tsc, ...flags, ...sources], {
      cwd: place.directory,
      encoding: 'utf8',
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  });
});
