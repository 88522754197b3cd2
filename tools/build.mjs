/**
 * Builds into dist/ and packages/client/dist/ what has changed since the last build, and says what it does: `node tools/build.mjs [--all]`.
 * A part is up to date when the paths, sizes and times of its inputs are those of the last build.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { fileURLToPath, URL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const stamps = join(root, 'dist/.build.json');
const require = createRequire(import.meta.url);
const shared = ['package.json', 'package-lock.json', 'tsconfig.json', 'tools/build.mjs'];

/** In the order in which they are built. `output` shows whether somebody removed what was built. */
const parts = [
  {
    name: 'service',
    inputs: [...shared, 'tsconfig.build.json', 'src'],
    ignores: /^src\/(web|client\/(ai-sdk|assistant-ui))\//,
    output: 'dist/main.js',
    build() {
      // Types are checked by `npm run types`: checking takes most of the time of a first start.
      run('typescript/bin/tsc', ['-p', 'tsconfig.build.json', '--noCheck']);
      for (const store of ['sqlite', 'postgres']) {
        const to = join(root, `dist/adapters/stores/${store}/migrations`);
        rmSync(to, { recursive: true, force: true });
        cpSync(join(root, `src/adapters/stores/${store}/migrations`), to, { recursive: true });
      }
    },
  },
  {
    name: 'client package',
    inputs: [...shared, 'tsconfig.client.json', 'src/client'],
    output: 'packages/client/dist/index.d.ts',
    build() {
      // Files whose sources were removed must not be published.
      rmSync(join(root, 'packages/client/dist'), { recursive: true, force: true });
      run('typescript/bin/tsc', ['-p', 'tsconfig.client.json']);
    },
  },
  {
    name: 'page',
    inputs: [...shared, 'vite.config.ts', 'src/client', 'src/web'],
    output: 'dist/web/index.html',
    build: () => run('vite/bin/vite.js', ['build']),
  },
];

const before = process.argv.includes('--all') ? {} : readStamps();
const after = {};
const said = [];
for (const part of parts) {
  const stamp = stampOf(part);
  after[part.name] = stamp;
  if (before[part.name] === stamp && exists(join(root, part.output))) {
    said.push(`${part.name} up to date`);
    continue;
  }
  const start = performance.now();
  process.stderr.write(`Building the ${part.name} …\n`);
  part.build();
  said.push(`${part.name} built in ${((performance.now() - start) / 1000).toFixed(1)} s`);
  // After each part: one that is built stays so when the next one fails.
  mkdirSync(dirname(stamps), { recursive: true });
  writeFileSync(stamps, JSON.stringify({ ...before, ...after }));
}
process.stderr.write(`Build: ${said.join(', ')}.\n`);

function run(script, args) {
  const path = join(
    dirname(require.resolve(`${script.split('/')[0]}/package.json`)),
    ...script.split('/').slice(1),
  );
  const { status, error } = spawnSync(process.execPath, [path, ...args], { cwd: root, stdio: 'inherit' });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

function stampOf({ inputs, ignores }) {
  const hash = createHash('sha256');
  for (const input of inputs) {
    for (const path of filesIn(input)) {
      if (ignores?.test(path)) continue;
      const { size, mtimeMs } = statSync(join(root, path));
      hash.update(`${path}\0${String(size)}\0${String(mtimeMs)}\n`);
    }
  }
  return hash.digest('hex');
}

function filesIn(input) {
  if (statSync(join(root, input)).isFile()) return [input];
  return readdirSync(join(root, input), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
    .sort();
}

function exists(path) {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function readStamps() {
  try {
    return JSON.parse(readFileSync(stamps, 'utf8'));
  } catch {
    return {};
  }
}
