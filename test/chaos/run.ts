/** Proves that turns and streams lose nothing while everything that they stand on fails. See `--help` and README.md. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildCheckout, exitOnSignals, freezeBuild, ROOT } from '../support/server-process.js';
import { Client } from './client.js';
import { writeConfiguration } from './configuration.js';
import { Figures } from './figures.js';
import { startHostileChain } from './hostile-chain.js';
import { Operator } from './operator.js';
import { HELP, optionsOf, OptionError, type RunOptions } from './options.js';
import { pollState } from './polling.js';
import { Random } from './random.js';
import { Script } from './script.js';
import { hasFenced, readLogs } from './server-logs.js';
import { Site } from './site.js';
import { Stranger } from './stranger.js';
import { summaryOf } from './summary.js';
import { startScriptedUpstream } from './upstream.js';
import { verify } from './verify.js';
import type { WeatherActor } from './weather/actor.js';
import { WEATHER } from './weather/all.js';
import { startBank } from './wallets/bank.js';
import { judgePayments } from './wallets/judge-payments.js';
import { Payer, readWallet } from './wallets/payer.js';
import { PayingModel } from './wallets/paying-model.js';
import { watchLiveness } from './watchdog.js';
import { closeConnections } from './wire.js';
import { sleep, type World } from './world.js';

const END_MS = 60_000;
const PROGRESS_MS = 30_000;

process.exit(await start());

async function start(): Promise<number> {
  try {
    const options = optionsOf(process.argv.slice(2));
    if (options !== 'help') return await main(options);
    process.stdout.write(HELP);
    return 0;
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 2;
  }
}

async function main(options: RunOptions): Promise<number> {
  exitOnSignals();
  const { seed, selected } = options;
  const begun = Date.now();
  if (options.build) await buildCheckout();
  const directory = mkdtempSync(join(tmpdir(), `diptych-chaos-${seed}-`));
  const figures = new Figures(join(directory, 'findings.txt'));
  const has = (name: string): boolean => selected.has(name);
  const script = new Script(seed, {
    hostileProvider: has('provider'),
    hostileContracts: has('contracts'),
  });
  const paying = new PayingModel();
  const upstream = await startScriptedUpstream(script, figures, { isHostile: has('provider'), paying });
  const chain = await startHostileChain();
  const bank = has('wallets') ? await startBank(seed, options.payers) : null;
  writeConfiguration(directory, upstream, chain, bank);
  const app = freezeBuild(options.app ?? ROOT, join(directory, 'app'));
  const firstApp = options.from === undefined ? app : freezeBuild(options.from, join(directory, 'first-app'));
  const site = await Site.open({
    ...{ app, firstApp, cwd: directory, figures },
    ...{ nodes: options.nodes, store: options.store, hasRedis: options.redis },
    withDatabaseClock: has('database-clock'),
  });
  const playable = playableOf(site, options);
  const operator = new Operator(site, playable, figures, seed);
  let isEnding = false;
  const world: World = {
    ...{ seed, figures, script, upstream, has },
    weather: site.weather,
    staleMs: site.staleMs,
    areClocksWrong: playable.some(({ name }) => name.endsWith('-clock')),
    door: (random) => site.door(random),
    whenUp: () => site.whenUp(),
    isTroubledSince: (time) => operator.isTroubledSince(time),
    hasFenced: () => hasFenced(site.nodes.map(({ log }) => log)),
    deleteByCli: (id) => site.deleteByCli(id),
    get isEnding() {
      return isEnding;
    },
  };
  const extent =
    options.minutes === null ? `${String(options.kills)} kills` : `${String(options.minutes)} minutes`;
  say(`seed ${seed}: ${extent}, ${String(options.clients)} clients, data in ${directory}`);
  say(site.about);
  say(`weather: ${playable.map(({ name }) => name).join(' ')}`);
  const progress = setInterval(() => {
    const [kills, acked] = [figures.of('kills'), figures.of('acked')];
    const last = operator.notes.at(-1)?.slice(0, 80) ?? '';
    say(`${seconds(begun)} s: ${String(kills)} kills, ${String(acked)} messages, ${String(figures.faults)} faults; ${last}`); // prettier-ignore
  }, PROGRESS_MS);
  try {
    await site.startAll();
    const clients = Array.from({ length: options.clients }, (_, index) => new Client(world, index + 1));
    const conversations = () => clients.flatMap((client) => client.conversations);
    const payers =
      bank === null
        ? []
        : Array.from({ length: options.payers }, (_, index) => new Payer(world, bank, index + 1));
    const stranger = new Stranger(world);
    const running = Promise.all([
      ...clients.map((client) => client.run()),
      ...payers.map((payer) => payer.run()),
      ...(has('contracts') ? [stranger.run()] : []),
      ...site.nodes.map((node) =>
        watchLiveness(node, { figures, isOver: () => isEnding, busy: () => stranger.underway }),
      ),
    ]);
    await Promise.race([operator.run(world, options, conversations), running]);
    isEnding = true;
    upstream.calmDown();
    bank?.calmDown();
    await running;
    await settle(world, conversations());
    const paid = payers.flatMap(({ sessions }) => sessions);
    await settlePayments(world, paid);
    if (bank !== null) await judgePayments(world, paid, { bank, model: paying });
    for (const followed of conversations()) await verify(world, followed);
    await Promise.all(
      conversations().flatMap(({ followers }) => followers.map((follower) => follower.stop())),
    );
    await Promise.all(site.nodes.map((node) => node.drain()));
  } catch (error) {
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    figures.fault('brokeOff', what);
  } finally {
    clearInterval(progress);
    await site.close();
    await upstream.close();
    await chain.close();
    await bank?.close();
  }
  closeConnections();
  const logs = readLogs(
    site.nodes.map(({ log }) => log),
    figures,
  );
  say(`\n${operator.notes.map((note) => `  ${note}\n`).join('')}`);
  say(`${figures.table()}\n\n${logs}`);
  say(
    `--seed ${seed} replays the choices of every actor (what is sent, how, faults of the model, how long to wait before a kill). It does not ` +
      'replay timing: what a kill meets differs from run to run.\n',
  );
  const isBad = figures.faults > 0;
  if (isBad || options.keep) say(`data, logs and findings are in ${directory}`);
  else rmSync(directory, { recursive: true, force: true });
  if (options.json !== null)
    writeFileSync(options.json, JSON.stringify({ seed, counts: figures.counts, faults: figures.faults }));
  say(summaryOf({ seed, about: site.about, took: seconds(begun), figures, played: operator.played }));
  return isBad ? 1 : 0;
}

/**
 * The selected kinds of weather that apply to a site.
 * @throws OptionError when one was asked for by name and does not apply, or has to be installed first
 */
function playableOf(site: Site, { selected, isNamed }: RunOptions): readonly WeatherActor[] {
  return WEATHER.filter((actor) => {
    if (!selected.has(actor.name)) return false;
    const why = actor.misses(site);
    const lacking = why === null ? (actor.lacks?.(site) ?? null) : null;
    if (why !== null && isNamed(actor.name)) throw new OptionError(`${actor.name} does not apply: ${why}`);
    // A run in CI leaves nothing out in silence.
    if (lacking !== null && (isNamed(actor.name) || process.env.CI !== undefined))
      throw new OptionError(`${actor.name} needs ${lacking}; install it, or use --without ${actor.name}`);
    if (why !== null || lacking !== null) say(`without ${actor.name}: ${why ?? `it needs ${lacking ?? ''}`}`);
    return why === null && lacking === null;
  });
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

/** Waits until no outcome is being verified. */
async function settlePayments(world: World, sessions: Payer['sessions']): Promise<void> {
  const random = new Random(world.seed, 'settle payments');
  const until = Date.now() + END_MS;
  for (const session of sessions) {
    const isIdle = async (): Promise<boolean> =>
      (await readWallet(world, session, random))?.is_processing === false;
    while (Date.now() < until && !(await isIdle())) await sleep(200);
  }
}

function seconds(begun: number): string {
  return ((Date.now() - begun) / 1000).toFixed(0);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
