/** Proves that turns and streams lose nothing while the server is killed again and again. See `--help`. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildCheckout, exitOnSignals, freePort, freezeBuild, ROOT } from '../support/server-process.js';
import { Client } from './client.js';
import { Figures } from './figures.js';
import { DRAIN_SECONDS, Operator } from './operator.js';
import { pollState } from './polling.js';
import { startScriptedUpstream } from './upstream.js';
import { caughtUp } from './verify-events.js';
import { verify } from './verify.js';
import { ask, closeConnections } from './wire.js';
import { sleep, type World } from './world.js';

const HELP = `npm run chaos -- [--kills 100] [--clients 12] [--seed WORD] [--no-build] [--app DIR] [--keep]

  --kills N    SIGKILLs in all; drains (SIGTERM) come on top
  --clients C  people who chat at once, on both surfaces
  --seed WORD  replays the choices of a run (not its timing)
  --no-build   use dist/ as it is
  --app DIR    use the build of another folder (dist/, package.json, node_modules)
  --keep       keep the data and the log even when all is well
`;
const END_MS = 60_000;

const { values: options } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    clients: { type: 'string', default: '12' },
    seed: { type: 'string', default: randomUUID().slice(0, 8) },
    app: { type: 'string' },
    'no-build': { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (options.help) process.stdout.write(HELP);
// Actors that a broken run leaves behind must not hold it.
else process.exit(await main());

async function main(): Promise<number> {
  exitOnSignals();
  const { seed } = options;
  const begun = Date.now();
  if (!options['no-build'] && options.app === undefined) await buildCheckout();
  const directory = mkdtempSync(join(tmpdir(), `diptych-chaos-${seed}-`));
  const figures = new Figures(join(directory, 'findings.txt'));
  const upstream = await startScriptedUpstream(seed, figures);
  const log = join(directory, 'server.log');
  writeFileSync(join(directory, 'diptych.yaml'), configuration(upstream.url));
  const operator = new Operator(
    {
      app: freezeBuild(options.app ?? ROOT, join(directory, 'app')),
      cwd: directory,
      port: await freePort(),
      env: {
        DATABASE_URL: `sqlite:${join(directory, 'data', 'diptych.db')}`,
        RATE_LIMIT: '0',
        DRAIN_TIMEOUT: String(DRAIN_SECONDS),
      },
      log,
    },
    figures,
    seed,
  );
  let isEnding = false;
  const world: World = {
    seed,
    figures,
    upstream,
    base: operator.base,
    get generation() {
      return operator.generation;
    },
    fateOf: (generation) => operator.fateOf(generation),
    whenUp: () => operator.whenUp(),
    get isEnding() {
      return isEnding;
    },
  };
  say(`seed ${seed}, ${options.kills} kills, ${options.clients} clients, data in ${directory}`);
  const progress = setInterval(() => {
    const [kills, acked] = [figures.of('kills'), figures.of('acked')];
    say(
      `${String(kills)} kills, ${String(acked)} messages, ${String(figures.faults)} faults, ${seconds(begun)} s`,
    );
  }, 30_000);
  try {
    await operator.start();
    const clients = Array.from(
      { length: Number(options.clients) },
      (_, index) => new Client(world, index + 1),
    );
    const conversations = () => clients.flatMap((client) => client.conversations);
    const running = Promise.all(clients.map((client) => client.run()));
    await Promise.race([operator.run(world, Number(options.kills), conversations), running]);
    isEnding = true;
    upstream.calmDown();
    await running;
    await settle(world, conversations());
    for (const followed of conversations()) {
      await caughtUp(followed, await cursorOf(world, followed.conversation.id));
      await verify(world, followed);
    }
    await Promise.all(
      conversations().flatMap(({ followers }) => followers.map((follower) => follower.stop())),
    );
    await operator.stop();
  } catch (error) {
    figures.fault(
      'crash',
      `the run broke off: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
  } finally {
    clearInterval(progress);
    await operator.abandon();
    await upstream.close();
  }
  closeConnections();
  const notes = readLog(log, figures);
  process.stdout.write(`\n${figures.table()}\n\n${notes}`);
  process.stdout.write(
    `\nseed ${seed}: --seed ${seed} replays the choices of every actor (what is sent, how, faults of the model, how long to wait ` +
      `before a kill). It does not replay timing: what a kill meets differs from run to run.\n`,
  );
  const isBad = figures.faults > 0;
  if (isBad || options.keep) say(`data, server log and findings are in ${directory}`);
  else rmSync(directory, { recursive: true, force: true });
  say(`${isBad ? 'FAILED' : 'passed'}: ${String(figures.faults)} faults in ${seconds(begun)} s`);
  return isBad ? 1 : 0;
}

/** Waits until nothing is processed anywhere. What still is after a minute is found by the verification. */
async function settle(world: World, conversations: Client['conversations']): Promise<void> {
  const until = Date.now() + END_MS;
  let waiting: readonly Client['conversations'][number][] = conversations;
  while (waiting.length > 0 && Date.now() < until) {
    const busy = [];
    for (const followed of waiting) {
      const state = await pollState(world, followed.conversation);
      if (state?.is_processing !== false) busy.push(followed);
    }
    waiting = busy;
    await sleep(200);
  }
  // Titles are made behind the first answer.
  await sleep(1000);
}

async function cursorOf(world: World, id: string): Promise<number> {
  const answer = await ask({
    method: 'GET',
    url: `${world.base}/api/state`,
    headers: { 'X-Session-Id': id },
  });
  return Number(answer.headers['x-event-cursor']);
}

function configuration(url: string): string {
  return `rigs:
  - id: scripted
    name: Scripted
    provider: openai-compatible
    model: scripted
    baseUrl: ${url}
    apiKey: sk-scripted
`;
}

/** Counts takeovers, and lists what the server thought worth a warning. */
function readLog(file: string, figures: Figures): string {
  const warnings = new Map<string, number>();
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const msg = /"msg":"([^"]*)"/.exec(line)?.[1] ?? '';
    if (msg === 'took over abandoned turns') {
      figures.count('takeovers', Number(/"turns":(\d+)/.exec(line)?.[1] ?? 0));
    }
    const level = /"level":"(warn|error|fatal)"/.exec(line)?.[1];
    if (level !== undefined) warnings.set(`${level}: ${msg}`, (warnings.get(`${level}: ${msg}`) ?? 0) + 1);
  }
  const lines = [...warnings].map(([what, times]) => `  ${String(times).padStart(8)}  ${what}\n`);
  return `What the server's log warned of\n${lines.join('')}`;
}

function seconds(begun: number): string {
  return ((Date.now() - begun) / 1000).toFixed(0);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
