import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ROOT } from '../support/server-process.js';

const Release = z.strictObject({ version: z.string(), commit: z.string() });

/** The release that this checkout is upgraded from. */
export const release = Release.parse(
  JSON.parse(readFileSync(new URL('./release.json', import.meta.url), 'utf8')),
);

/** The commit of the release is not in this clone. */
export class NoRelease extends Error {
  override readonly name = 'NoRelease';
}

const Lock = z.looseObject({ packages: z.looseObject({ '': z.looseObject({}) }) });

/**
 * Builds a commit in a new folder, with the packages of this checkout if they are the same.
 * @returns the folder
 * @throws NoRelease
 */
export function buildRelease(commit: string, folder: string): string {
  if (git('cat-file', '-e', `${commit}^{commit}`).status !== 0) {
    throw new NoRelease(
      `the commit ${commit} is not in this clone: \`git fetch --unshallow\` fetches the history of a shallow clone`,
    );
  }
  mkdirSync(folder);
  const archive = git('archive', '--format=tar', commit);
  run('tar', ['-x', '-C', folder], { input: archive.stdout });
  const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8');
  if (packagesOf(lock) === packagesOf(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')))
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  else run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder });
  run('npm', ['run', '--silent', 'build'], { cwd: folder });
  return folder;
}

/** Writes the file of settings that a node reads: its model is a scripted provider. */
export function writeConfiguration(folder: string, upstream: string): void {
  writeFileSync(
    join(folder, 'diptych.yaml'),
    `rigs:
  - id: scripted
    provider: openai-compatible
    baseUrl: ${upstream}
    apiKey: sk-scripted
`,
  );
}

/** The packages that a lock file installs, whatever version it says this one has. */
function packagesOf(lock: string): string {
  const { packages } = Lock.parse(JSON.parse(lock));
  return JSON.stringify({ ...packages, '': { ...packages[''], version: undefined } });
}

function git(...args: readonly string[]) {
  return spawnSync('git', args, { cwd: ROOT, maxBuffer: 1e9 });
}

/** @throws Error when the command fails */
function run(command: string, args: readonly string[], options: { cwd?: string; input?: Buffer }): void {
  const { status, stderr } = spawnSync(command, args, options);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${String(stderr)}`);
}
