import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT } from '../support/server-process.js';

/** The limit of the bundled client with gzip, in bytes. */
const MOST_BYTES = 12_500;

const OFFLINE = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier'];
const folder = mkdtempSync(join(tmpdir(), 'diptych-client-'));
let packed: readonly string[] = [];

/** Runs a command in the consumer's folder. @returns what it printed */
function run(command: string, args: readonly string[]): string {
  // An empty cache proves that the tarballs are all that is needed.
  const env = { ...process.env, npm_config_cache: join(folder, '.cache') };
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: 'utf8', env });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

/** Packs a package. @returns the name of the tarball */
function pack(path: string): string {
  return run('npm', ['pack', '--silent', ...OFFLINE, join(ROOT, path)]).trim();
}

/** Bundles a module for browsers. @returns the code */
function bundle(name: string, code: string): string {
  writeFileSync(join(folder, `${name}.js`), code);
  const settings = { outDir: name, modulePreload: false, rolldownOptions: { input: `${name}.js` } };
  writeFileSync(join(folder, `${name}.config.mjs`), `export default ${JSON.stringify({ build: settings })};`);
  const vite = join(ROOT, 'node_modules/vite/bin/vite.js');
  run(process.execPath, [vite, 'build', '--config', `${name}.config.mjs`, '--logLevel', 'error']);
  const [file = ''] = readdirSync(join(folder, name, 'assets'));
  return readFileSync(join(folder, name, 'assets', file), 'utf8');
}

beforeAll(() => {
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  const tarballs = [pack('packages/client'), pack('node_modules/eventsource-parser')];
  packed = run('tar', ['-tzf', tarballs[0] ?? ''])
    .trim()
    .split('\n');
  run('npm', ['install', ...OFFLINE, ...tarballs.map((name) => `./${name}`)]);
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('the package @diptych/client', () => {
  it('contains compiled modules with their types, and nothing else', () => {
    const others = packed.filter((path) => !/^package\/dist\/[\w/-]+(\.d\.ts|\.js)$/.test(path));
    expect(others.sort()).toEqual(['package/README.md', 'package/package.json']);
    for (const entry of ['index', 'ai-sdk/chat-transport', 'assistant-ui/use-diptych-runtime']) {
      expect(packed).toContain(`package/dist/${entry}.js`);
      expect(packed).toContain(`package/dist/${entry}.d.ts`);
    }
  });

  it('has the version of the service', () => {
    const versionOf = (path: string): string | undefined =>
      /^ {2}"version": "([^"]+)"/m.exec(readFileSync(join(ROOT, path), 'utf8'))?.[1];
    expect(versionOf('package.json')).toMatch(/^\d/);
    expect(versionOf('packages/client/package.json')).toBe(versionOf('package.json'));
  });

  it('is installed without native or other packages', () => {
    const modules = join(folder, 'node_modules');
    const names = readdirSync(modules, { recursive: true, encoding: 'utf8' });
    const packages = names.filter((path) => basename(path) === 'package.json');
    expect(packages.sort()).toEqual(['@diptych/client/package.json', 'eventsource-parser/package.json']);
    expect(names.filter((path) => /\.node$|binding\.gyp$/.test(path))).toEqual([]);
  });

  it('is imported by Node, with its adapter for the AI SDK', () => {
    writeFileSync(
      join(folder, 'use.js'),
      `import { createClient } from '@diptych/client';
import { DiptychChatTransport } from '@diptych/client/ai-sdk';
const client = createClient({ url: 'http://127.0.0.1:1' });
console.log(client.surface, typeof new DiptychChatTransport({ url: '' }).sendMessages);
client.close();`,
    );
    expect(run(process.execPath, ['use.js'])).toBe('current function\n');
  });

  it('has types for a strict program', () => {
    writeFileSync(
      join(folder, 'use.ts'),
      `import { createClient } from '@diptych/client';
const client = createClient({ url: 'http://127.0.0.1:8080' });
for await (const event of client.ask('Hello')) if (event.type === 'text') console.log(event.content.length);`,
    );
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const flags = '--noEmit --strict --exactOptionalPropertyTypes --target es2023 --module nodenext';
    const libraries = ['--lib', 'es2023,dom,dom.iterable'];
    expect(run(process.execPath, [tsc, ...flags.split(' '), ...libraries, 'use.ts'])).toBe('');
  });

  it('is about 12 kB with gzip, and uses nothing of Node', () => {
    const code = bundle(
      'whole',
      `import { createClient } from '@diptych/client'; globalThis.made = createClient;`,
    );
    expect(code).toContain('X-Session-Id');
    expect(code).not.toMatch(/\bnode:|\brequire\(|process\.env/);
    expect(gzipSync(code, { level: 9 }).length).toBeLessThan(MOST_BYTES);
  });

  it('leaves out of a bundle what is not used', () => {
    const code = bundle(
      'part',
      `import { ClientError } from '@diptych/client'; globalThis.made = ClientError;`,
    );
    expect(code).toContain('ClientError');
    expect(code).not.toContain('X-Session-Id');
    expect(code.length).toBeLessThan(2_000);
  });
});
