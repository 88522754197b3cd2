/** Programs that plain node runs, without anything in between: as text, which `--import` and `--eval` take. */

/** A module for `--import`. */
function asImport(source: string): string {
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

/** Imports what the lines of a file name, and ends: the argument after it is the file. */
export const IMPORT_ALL = `
import { readFileSync } from 'node:fs';
for (const url of readFileSync(process.argv[1], 'utf8').trim().split('\\n')) await import(url);
process.exit(0);`;

/** Before the service: notes every module of it that is imported in a file, a line each, in their order of arrival. */
export function listImports(file: string): string {
  const hooks = asImport(`
import { appendFileSync } from 'node:fs';
export async function load(url, context, nextLoad) {
  if (url.includes('/dist/')) appendFileSync(${JSON.stringify(file)}, url + '\\n');
  return nextLoad(url, context);
}`);
  return asImport(`import { register } from 'node:module'; register(${JSON.stringify(hooks)});`);
}

/**
 * Before the service: on SIGUSR2 it collects garbage, and writes how many bytes of the heap are alive to `heap.txt`.
 */
export const HEAP_PROBE = asImport(`
import { writeFileSync } from 'node:fs';
process.on('SIGUSR2', () => {
  globalThis.gc();
  setTimeout(() => {
    globalThis.gc();
    writeFileSync('heap.txt', String(process.memoryUsage().heapUsed));
  }, 500);
});`);
