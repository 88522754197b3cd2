/** Proves that turns and streams lose nothing while the server is killed again and again. See `--help`. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildCheckout, exitOnSignals, freezeBuild, ROOT } from '../support/server-process.js';
import { Client } from './client.js';
import { writeConfiguration } from './configuration.js';
import { Figures } from './figures.js';
import { pollState } from './polling.js';
import { Random } from './random.js';
import { hasFenced, readLogs } from './server-logs.js';
import { openService } from './service.js';
import { startScriptedUpstream } from './upstream.js';
import { verify } from './verify.js';
import { closeConnections } from './wire.js';
import { sleep, type World } from './world.js';

const HELP = `npm run chaos -- [--nodes 1] [--kills 100] [--clients 12] [--seed WORD] [--no-build] [--app DIR] [--from DIR] [--keep]

  --nodes N    1: one server on SQLite; more: servers on PostgreSQL and Redis, both started for the run, stopped, cut off and started again
  --kills N    SIGKILLs in all, about so; drains (SIGTERM) and other faults come on top
  --clients C  people who chat at once, on both surfaces and on any node
  --seed WORD  replays the choices of a run (not its timing)
  --no-build   use dist/ as it is
  --app DIR    use the build of another folder (dist/, package.json, node_modules)
  --from DIR   a rolling deploy: begin with the build of that folder, an earlier version, and start what was ended as the other
  --keep       keep the data and the logs even when all is well
`;
const END_MS = 60_000;

const { values: options } = parseArgs({
  options: {
    nodes: { type: 'string', default: '1' },
    kills: { type: 'string', default: '100' },
    clients: { type: 'string', default: '12' },
    seed: { type: 'string', default: randomUUID().slice(0, 8) },
    app: { type: 'string' },
    from: { type: 'string' },
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
  writeConfiguration(directory, upstream);
  const app = freezeBuild(options.app ?? ROOT, join(directory, 'app'));
  const firstApp = options.from === undefined ? app : freezeBuild(options.from, join(directory, 'first-app'));
  const builds = { app, firstApp, cwd: directory };
  const service = await openService(Number(options.nodes), builds, { figures, seed });
  let isEnding = false;
  const world: World = {
    seed,
    figures,
    upstream,
    weather: service.weather,
    door: (random) => service.door(random),
    whenUp: () => service.whenUp(),
    isTroubledSince: (time) => service.isTroubledSince(time),
    hasFenced: () => hasFenced(service.nodes.map(({ log }) => log)),
    get isEnding() {
      return isEnding;
    },
  };
  say(`seed ${seed}, ${options.kills} kills, ${options.clients} clients, data in ${directory}`);
  say(service.about);
  const progress = setInterval(() => {
    const [kills, acked] = [figures.of('kills'), figures.of('acked')];
    say(
      `${String(kills)} kills, ${String(acked)} messages, ${String(figures.faults)} faults, ${seconds(begun)} s`,
    );
  }, 30_000);
  try {
    await service.start();
    const clients = Array.from(
      { length: Number(options.clients) },
      (_, index) => new Client(world, index + 1),
    );
    const conversations = () => clients.flatMap((client) => client.conversations);
    const running = Promise.all(clients.map((client) => client.run()));
    await Promise.race([service.run(world, Number(options.kills), conversations), running]);
    isEnding = true;
    upstream.calmDown();
    await running;
    await settle(world, conversations());
    for (const followed of conversations()) await verify(world, followed);
    await Promise.all(
      conversations().flatMap(({ followers }) => followers.map((follower) => follower.stop())),
    );
    await Promise.all(service.nodes.map((node) => node.drain()));
  } catch (error) {
    figures.fault(
      'crash',
      `the run broke off: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
  } finally {
    clearInterval(progress);
    await service.close();
    await upstream.close();
  }
  closeConnections();
  const notes = readLogs(
    service.nodes.map(({ log }) => log),
    figures,
  );
  const happened = service.notes.map((note) => `  ${note}\n`).join('');
  process.stdout.write(`\n${happened}\n${figures.table()}\n\n${notes}`);
  process.stdout.write(
    `\nseed ${seed}: --seed ${seed} replays the choices of every actor (what is sent, how, faults of the model, how long to wait ` +
      `before a kill). It does not replay timing: what a kill meets differs from run to run.\n`,
  );
  const isBad = figures.faults > 0;
  if (isBad || options.keep) say(`data, logs and findings are in ${directory}`);
  else rmSync(directory, { recursive: true, force: true });
  say(`${isBad ? 'FAILED' : 'passed'}: ${String(figures.faults)} faults in ${seconds(begun)} s`);
  return isBad ? 1 : 0;
}

/** Waits until nothing is processed anywhere. What still is after a minute is found by the verification. */
async function settle(world: World, conversations: Client['conversations']): Promise<void> {
  const random = new Random(world.seed, 'settle');
  const until = Date.now() + END_MS;
  let waiting: readonly Client['conversations'][number][] = conversations;
  while (waiting.length > 0 && Date.now() < until) {
    const busy = [];
    for (const followed of waiting) {
      const state = await pollState(world, followed.conversation, random);
      if (state?.is_processing !== false) busy.push(followed);
    }
    waiting = busy;
    await sleep(200);
  }
  // Titles are made behind the first answer.
  await sleep(1000);
}

function seconds(begun: number): string {
  return ((Date.now() - begun) / 1000).toFixed(0);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
