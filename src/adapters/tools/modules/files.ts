import { readdir, stat } from 'node:fs/promises';
import { isAbsolute, join, parse } from 'node:path';
import { codeOf } from '../../platform/node/error-code.js';

/**
 * Lists the files that match a pattern, sorted. `*` and `?` work as in a shell, within one path segment; only a segment
 * that begins with a dot matches hidden files.
 * @throws Error with a message for the operator when no file matches or the pattern is invalid
 */
export async function findFiles(pattern: string, folder: string): Promise<readonly string[]> {
  const parts = pattern.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.length === 0) throw new Error('is blank');
  if (parts.includes('**')) throw new Error('contains "**", which is not supported; name each folder');
  const root = isAbsolute(pattern) ? parse(pattern).root : folder;
  let found: readonly string[] = [root];
  for (const part of parts) {
    const next = found.map(async (place) => (isWild(part) ? matches(place, part) : [join(place, part)]));
    found = (await Promise.all(next)).flat();
  }
  const checked = await Promise.all(found.map(async (file) => ((await isFile(file)) ? [file] : [])));
  const files = checked.flat().sort();
  if (files.length === 0) throw new Error(`matches no file in ${root}`);
  return files;
}

function isWild(part: string): boolean {
  return /[*?]/.test(part);
}

async function matches(folder: string, part: string): Promise<readonly string[]> {
  const escaped = part.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&');
  const shape = new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, 'su');
  const names = await readdir(folder).catch(missing<string[]>([]));
  return names
    .filter((name) => shape.test(name) && (part.startsWith('.') || !name.startsWith('.')))
    .map((name) => join(folder, name));
}

async function isFile(path: string): Promise<boolean> {
  const found = await stat(path).catch(missing(null));
  return found?.isFile() === true;
}

/** Replaces "not found" errors of the file system by `instead`; rethrows all others. */
function missing<T>(instead: T): (error: unknown) => T {
  return (error) => {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return instead;
    throw error;
  };
}
