import { readFileSync } from 'node:fs';
import type { Figures } from './figures.js';

/** Counts takeovers, and lists what the servers thought worth a warning. */
export function readLogs(files: readonly string[], figures: Figures): string {
  const warnings = new Map<string, number>();
  for (const line of files.flatMap((file) => readFileSync(file, 'utf8').split('\n'))) {
    const msg = /"msg":"([^"]*)"/.exec(line)?.[1] ?? '';
    if (msg === 'took over abandoned turns') {
      figures.count('takeovers', Number(/"turns":(\d+)/.exec(line)?.[1] ?? 0));
    }
    const level = /"level":"(warn|error|fatal)"/.exec(line)?.[1];
    if (level !== undefined) warnings.set(`${level}: ${msg}`, (warnings.get(`${level}: ${msg}`) ?? 0) + 1);
  }
  const lines = [...warnings].map(([what, times]) => `  ${String(times).padStart(8)}  ${what}\n`);
  return `What the servers' logs warned of\n${lines.join('')}`;
}

/** True when some owner of an interrupted turn did not answer in time, so that it lost the turn. */
export function hasFenced(files: readonly string[]): boolean {
  return files.some((file) => readFileSync(file, 'utf8').includes('fenced off the unresponsive owner'));
}
