/** Shows that a long steady load leaks neither memory nor descriptors, with 1,000 idle streams open. See `--help`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { closeConnections } from '../chaos/wire.js';
import {
  buildCheckout,
  exitOnSignals,
  freePort,
  freezeBuild,
  ROOT,
  ServerProcess,
} from '../support/server-process.js';
import { IdleStreams } from './idle-streams.js';
import { Load } from './load.js';
import { collected, heapAfterCollections, median, readUsage, Sampler, settled, type Usage } from './usage.js';

const HELP = `npm run soak -- [--seconds 180] [--streams 1000] [--workers 8] [--pause 0] [--json FILE] [--no-build] [--app DIR]

A worker rests for --pause milliseconds after each turn.
`;
/** Kept HTTP connections come and go with the load; a leak of descriptors is by the hundred. */
const DESCRIPTORS = 16;
/**
 * How far the live heap may rise over the load, whichever is more. A leak of 1 KiB a request is over 100 MiB in 180 s.
 */
const HEAP = { share: 0.2, mib: 12 };
/**
 * How far the whole of the memory may be over its highest in the first two thirds of the load. The heap is a sawtooth
 * whose garbage V8 does not collect at rest, and freed pages are not given back at once: so it is compared with a
 * maximum.
 */
const MEMORY = { share: 0.15, mib: 24 };
const WARM_UP_MS = 20_000;

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '180' },
    streams: { type: 'string', default: '1000' },
    workers: { type: 'string', default: '8' },
    pause: { type: 'string', default: '0' },
    app: { type: 'string' },
    json: { type: 'string' },
    'no-build': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
/** Loaded into the server: a full collection on a signal, so that what is garbage is not taken for what is held. */
const COLLECT =
  'data:text/javascript,import { isMainThread } from "node:worker_threads"; if (isMainThread) process.on("SIGUSR2", () => gc());';

const problems: string[] = [];
/** What the load did. */
let counts: Readonly<Record<string, number>> = {};

if (options.help) process.stdout.write(HELP);
else process.exitCode = await main();

async function main(): Promise<number> {
  exitOnSignals();
  if (!options['no-build'] && options.app === undefined) await buildCheckout();
  const directory = mkdtempSync(join(tmpdir(), 'diptych-soak-'));
  const log = join(directory, 'server.log');
  const server = ServerProcess.start({
    app: freezeBuild(options.app ?? ROOT, join(directory, 'app')),
    cwd: directory,
    port: await freePort(),
    env: {
      DATABASE_URL: `sqlite:${join(directory, 'data', 'diptych.db')}`,
      RATE_LIMIT: '0',
      STREAM_LIMIT: '0',
      DEMO_TOKEN_MS: '1',
      SSE_KEEPALIVE: '5',
    },
    log,
    // Logs garbage collections, and collects once at the end, on a signal: not under load.
    flags: ['--trace-gc', '--expose-gc', '--import', COLLECT],
  });
  try {
    if (!(await server.healthy())) throw new Error(`the server did not start; see ${directory}`);
    await soak(server, log);
    server.signal('SIGTERM');
    const outcome = await server.ended;
    if (outcome !== 0) problems.push(`the server ended with ${String(outcome)}`);
  } finally {
    await server.kill();
    closeConnections();
  }
  for (const problem of problems) say(`FAILED: ${problem}`);
  if (problems.length > 0) say(`server log and data are in ${directory}`);
  else rmSync(directory, { recursive: true, force: true });
  if (options.json !== undefined)
    writeFileSync(options.json, JSON.stringify({ seed: 'none', counts, faults: problems.length }));
  say(problems.length > 0 ? `${String(problems.length)} problems` : 'passed');
  return problems.length > 0 ? 1 : 0;
}

async function soak({ pid, url }: ServerProcess, log: string): Promise<void> {
  const count = Number(options.streams);
  show('fresh', readUsage(pid));
  const warm = new Load(url, Number(options.workers), Number(options.pause));
  await sleep(WARM_UP_MS);
  await warm.stop();
  judgeLoad(warm, 'warm-up');
  closeConnections();
  const before = show('before: warmed up, at rest', await settled(pid, 15_000));

  const idle = new IdleStreams(url);
  await idle.open(count);
  const opened = show(`with ${String(count)} idle streams`, await settled(pid, 15_000));
  const each = ((opened.rss - before.rss) * 1024) / count;
  say(
    each > 0
      ? `    ${each.toFixed(1)} KiB of memory for each stream`
      : '    less memory than before: a collection came between',
  );

  const begun = Date.now();
  const collections = heapAfterCollections(log).length;
  const load = new Load(url, Number(options.workers), Number(options.pause));
  const sampler = new Sampler(pid, 500);
  await sleep(Number(options.seconds) * 1000);
  await load.stop();
  const samples = sampler.stop();
  judgeLoad(load, 'load');
  const { turns, polls, streams } = load;
  counts = { seconds: Number(options.seconds), turns, polls, streams };
  say(`    ${describeLoad(load, (Date.now() - begun) / 1000)}`);
  judgeHeap(heapAfterCollections(log).slice(collections));
  if (idle.ended > 0) problems.push(`${String(idle.ended)} idle streams were ended`);
  if (idle.silent > 0) problems.push(`${String(idle.silent)} idle streams got no keep-alive`);
  const missed = await idle.missed();
  say(`    of ${String(count)} idle streams ${String(count - missed)} carried a title at the end, each once`);
  if (missed > 0) problems.push(`${String(missed)} idle streams missed an event, or got it twice`);
  idle.close();
  closeConnections();
  const after = show('after: all closed, at rest', await settled(pid, 15_000));
  judgeDescriptors('after the load', before, after);

  for (const round of [1, 2, 3]) {
    const more = new IdleStreams(url);
    await more.open(count);
    const top = readUsage(pid);
    if (top.descriptors < before.descriptors + count * 0.9) problems.push('the streams were not really open');
    more.close();
    const closed = show(
      `round ${String(round)}: ${String(count)} streams opened (${String(top.descriptors)} descriptors) and closed`,
      await settled(pid, 15_000),
    );
    judgeDescriptors(`after round ${String(round)}`, before, closed);
  }
  judgeMemory(samples, await collected(pid, log));
  judgeEnd(heapAfterCollections(log).slice(collections));
}

function judgeLoad({ wrong }: Load, phase: string): void {
  for (const [what, times] of wrong) problems.push(`${phase}: ${String(times)} times ${what}`);
}

function judgeDescriptors(when: string, before: Usage, now: Usage): void {
  const more = now.descriptors - before.descriptors;
  if (more > DESCRIPTORS) problems.push(`${String(more)} descriptors more ${when} than before`);
}

/** What is alive after each full collection, in the last half of the load against the first. */
function judgeHeap(heap: readonly number[]): void {
  const half = Math.floor(heap.length / 2);
  const shown = heap.map((size) => size.toFixed(0)).join(' ');
  say(`    heap alive after each full collection under load: ${shown} MiB`);
  if (half < 2) {
    say('    too few collections to judge the heap by: give it more seconds');
    return;
  }
  const [first, last] = [median(heap.slice(0, half)), median(heap.slice(-half))];
  const bound = boundOf(first, HEAP);
  say(`    median of the first half ${mib(first)}, of the last ${mib(last)}, bound ${mib(bound)}`);
  if (last > bound)
    problems.push(`the live heap grew from ${mib(first)} to ${mib(last)} under a steady load`);
}

/** What is alive at the end, when all streams are closed, against the first half of the load. */
function judgeEnd(heap: readonly number[]): void {
  const [first, end = NaN] = [median(heap.slice(0, Math.ceil(heap.length / 2))), heap.at(-1)];
  const bound = boundOf(first, HEAP);
  say(`    heap alive at the end ${mib(end)}, bound ${mib(bound)}`);
  if (!(end <= bound)) problems.push(`at the end ${mib(end)} of the heap are alive`);
}

function judgeMemory(samples: readonly Usage[], end: Usage): void {
  const sixth = Math.ceil(samples.length / 6);
  const course = Array.from({ length: 6 }, (_, at) => samples.slice(at * sixth, (at + 1) * sixth));
  const medians = course.map((part) => median(part.map(({ anonymous }) => anonymous)).toFixed(0));
  say(`    anonymous memory in each sixth of the load (median): ${medians.join(' ')} MiB`);
  const highest = Math.max(...samples.map(({ anonymous }) => anonymous));
  const bound = boundOf(highest, MEMORY);
  say(
    `    anonymous memory: at most ${mib(highest)} under load, ${mib(end.anonymous)} at the end, bound ${mib(bound)}`,
  );
  if (end.anonymous > bound) problems.push(`at the end ${mib(end.anonymous)} are held`);
}

function boundOf(from: number, growth: { readonly share: number; readonly mib: number }): number {
  return Math.max(from * (1 + growth.share), from + growth.mib);
}

function describeLoad({ turns, polls, streams, latencies }: Load, seconds: number): string {
  const sorted = latencies.sort((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] ?? NaN).toFixed(1);
  const rate = (number: number): string => `${String(number)} (${(number / seconds).toFixed(0)}/s)`;
  return `${rate(turns)} turns, ${rate(polls)} polls, ${rate(streams)} streams opened; a poll took ${at(0.5)} ms, p99 ${at(0.99)} ms`;
}

function show(what: string, usage: Usage): Usage {
  const { rss, anonymous, descriptors } = usage;
  say(`${what}: rss ${mib(rss)}, anonymous ${mib(anonymous)}, ${String(descriptors)} descriptors`);
  return usage;
}

function mib(value: number): string {
  return `${value.toFixed(1)} MiB`;
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
