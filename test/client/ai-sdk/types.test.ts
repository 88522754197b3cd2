import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { ROOT } from '../../support/server-process.js';

const folder = mkdtempSync(join(tmpdir(), 'diptych-types-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Returns the `tsconfig` of a strict project that resolves the AI SDK to the given package. */
function settingsFor(name: string): object {
  const modules = join(ROOT, 'node_modules');
  return {
    compilerOptions: {
      ...{ noEmit: true, strict: true, exactOptionalPropertyTypes: true, skipLibCheck: true },
      ...{ target: 'es2023', module: 'preserve', jsx: 'react-jsx', lib: ['es2023', 'dom', 'dom.iterable'] },
      ...{ types: [], typeRoots: [join(modules, '@types')] },
      paths: { ai: [join(modules, name, 'node_modules/ai')], '@ai-sdk/react': [join(modules, name)] },
    },
    files: [join(ROOT, 'docs/examples/ai-sdk/main.tsx')],
  };
}

describe('the types of the adapter for the AI SDK', () => {
  // The type check of the repository covers `ai` 6.
  it.each([
    [5, 'ai-sdk-react-2'],
    [7, 'ai-sdk-react-4'],
  ])('fit those of version %s', (_, name) => {
    const file = join(folder, `${name}.json`);
    writeFileSync(file, JSON.stringify(settingsFor(name)));
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', file, '--listFiles'], {
      encoding: 'utf8',
    });
    expect({ status, errors: /^.*error TS.*$/m.exec(stdout)?.[0] }).toEqual({ status: 0, errors: undefined });
    expect(stdout).toContain(`/${name}/node_modules/ai/dist/`);
    expect(stdout).not.toContain(`${join(ROOT, 'node_modules/ai')}/`);
  });
});
