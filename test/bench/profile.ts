import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Load } from './load/measure.js';
import type { Context } from './row.js';
import { makeFolder, startProduct } from './servers.js';
import { seed } from './seed.js';
import { seedWorkloads, workloadOf } from './workloads.js';

const TOP = 10;
const WARM_S = 1;

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/**
 * Loads a server that profiles itself, and lists where its main thread's time went: the functions by their own time.
 */
export async function profile(context: Context, name: string, top = TOP): Promise<string> {
  const { workers, work } = workloadOf(name);
  const folder = makeFolder();
  await seed(folder, seedWorkloads);
  const flags = ['--cpu-prof', `--cpu-prof-dir=${folder}`];
  const product = await startProduct({ upstream: context.upstreamUrl, folder, flags });
  const load = await Load.start(product, workers, await work(product));
  await load.count(WARM_S);
  const { perCpuSecond } = await load.count(context.pace.seconds);
  await load.stop();
  await product.drain();
  const files = readdirSync(folder).filter((file) => file.endsWith('.cpuprofile'));
  const profiles = files.map((file) => readProfile(join(folder, file)));
  const main = profiles.sort((a, b) => busy(b) - busy(a))[0];
  if (main === undefined) throw new Error('the server wrote no profile');
  const head = `${name}: ${perCpuSecond.toFixed(0)} for each CPU second, profiled; ${folder}`;
  return [head, ...rank(main, top, product.startMs * 1000 + WARM_S * 1e6)].join('\n');
}

function readProfile(file: string): CpuProfile {
  const read: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (!isProfile(read)) throw new Error(`${file} is no profile`);
  return read;
}

function isProfile(value: unknown): value is CpuProfile {
  return typeof value === 'object' && value !== null && 'nodes' in value && 'samples' in value;
}

/** Functions with their share of the time that was not idle, from `from` microseconds after the start on. */
function rank(profiled: CpuProfile, top: number, from: number): string[] {
  const names = new Map(profiled.nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const times = new Map<string, number>();
  let elapsed = 0;
  for (const [at, node] of profiled.samples.entries()) {
    elapsed += profiled.timeDeltas[at] ?? 0;
    if (elapsed < from) continue;
    const name = names.get(node) ?? '?';
    times.set(name, (times.get(name) ?? 0) + (profiled.timeDeltas[at] ?? 0));
  }
  times.delete('(idle)');
  const all = [...times.values()].reduce((sum, time) => sum + time, 0);
  const ranked = [...times].sort(([, a], [, b]) => b - a).slice(0, top);
  return ranked.map(([name, time]) => `${((time / all) * 100).toFixed(1).padStart(5)} %  ${name}`);
}

function busy({ nodes, samples }: CpuProfile): number {
  const idle = nodes.find(({ callFrame }) => callFrame.functionName === '(idle)')?.id;
  return samples.filter((node) => node !== idle).length;
}

function nameOf({ functionName, url, lineNumber }: CpuProfile['nodes'][number]['callFrame']): string {
  const file = url.replace(/^.*\/(dist|node_modules)\//, '');
  const place = url === '' ? '' : ` (${file}:${String(lineNumber + 1)})`;
  return `${functionName === '' ? 'anonymous' : functionName}${place}`;
}
