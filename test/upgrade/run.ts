/** Replaces the nodes of the last release by nodes of this checkout, one by one and under load: see README.md. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Random } from '../chaos/random.js';
import { openDatabase } from '../chaos/services/database.js';
import { OwnRedis } from '../chaos/services/own-redis.js';
import { steadyPort } from '../chaos/services/service-process.js';
import { buildCheckout, exitOnSignals, freezeBuild, ROOT, ServerProcess } from '../support/server-process.js';
import { Client } from './client.js';
import { startModel } from './model.js';
import { buildRelease, NoRelease, release, writeConfiguration } from './release.js';
import { Figures, Rotation } from './rotation.js';

/** DRAIN_TIMEOUT: longer than a short turn, shorter than a long one. */
const DRAIN_SECONDS = 3;

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '8' },
    turns: { type: 'string', default: '4' },
    from: { type: 'string', default: release.commit },
    seed: { type: 'string', default: randomUUID().slice(0, 8) },
    'no-build': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(`Upgrades nodes of the last release under load; test/upgrade/README.md explains it.

  --clients 8      clients, half of them on each surface
  --turns 4        turns of each client in each of the phases
  --from COMMIT    the release; by default that of test/upgrade/release.json, ${release.version}
  --seed WORD      repeats the choices of an earlier run
  --no-build       this checkout is built already
`);
  process.exit(0);
}
exitOnSignals();
if (!values['no-build']) await buildCheckout();
const directory = mkdtempSync(join(tmpdir(), 'diptych-upgrade-'));
const random = new Random(values.seed);
const figures = new Figures();
const rotation = new Rotation(figures, random);
const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

const newApp = freezeBuild(ROOT, join(directory, 'new'));
const oldApp = buildOld();
const [redis, database, model] = await Promise.all([
  OwnRedis.start(join(directory, 'redis.log')),
  openDatabase(join(directory, 'postgres.log')),
  startModel(),
]);
writeConfiguration(directory, model.upstream.url);
const env = {
  ...{ DATABASE_URL: database.url(database.port), REDIS_URL: redis.url },
  ...{ SECRETS_KEY: randomBytes(32).toString('base64'), DRAIN_TIMEOUT: String(DRAIN_SECONDS) },
  ...{ RATE_LIMIT: '0', LOG_LEVEL: 'warn', CONFIG_FILE: 'diptych.yaml' },
};

const clients = Array.from({ length: Number(values.clients) }, (_, n) => newClient(`client ${String(n)}`));
const turnsOfPhase = clients.length * Number(values.turns);
const stopping = new AbortController();

const oldNodes = [await start(oldApp, 'old-1'), await start(oldApp, 'old-2')];
say(`two nodes of ${release.version} (${values.from.slice(0, 7)}), ${String(clients.length)} clients`);
const chatting = clients.map((client, n) => client.chat(n % 2 === 0 ? 'current' : 'legacy', stopping.signal));
await phase('the release alone');
const moved: Client[] = [];
for (const [n, node] of oldNodes.entries()) {
  await start(newApp, `new-${String(n + 1)}`);
  await phase('with one more node of this checkout');
  moved.push(await replace(node));
  await phase('with one node of the release less');
  if (figures.faults.length > 0) break;
}
stopping.abort();
await figures.unlessFailed(...chatting);
await figures.unlessFailed(...[...clients, ...moved].map((client) => client.verify()));

const messages = [...clients, ...moved].reduce((sum, { acknowledged }) => sum + acknowledged, 0);
for (const [count, what] of [
  [messages, 'messages acknowledged, on both surfaces'],
  [figures.requests, 'requests'],
  [figures.unavailable, '503 responses and refused connections of draining nodes'],
  [moved.length, 'turns handed over to another node'],
  [figures.faults.length, 'messages lost, other errors and differences'],
] as const)
  say(`${String(count).padStart(8)}  ${what}`);
if (figures.faults.length > 0) {
  say(`FAILED, seed ${values.seed}, logs in ${directory}`);
  process.exit(1);
}
say(`passed, seed ${values.seed}`);
await Promise.all([redis.close(), database.close(), model.upstream.close()]);
rmSync(directory, { recursive: true, force: true });
process.exit(0);

function buildOld(): string {
  try {
    return buildRelease(values.from, join(directory, 'old'));
  } catch (error) {
    if (!(error instanceof NoRelease)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  }
}

function newClient(name: string): Client {
  return new Client(name, { rotation, figures, random: new Random(values.seed, name) });
}

/** Starts a node and sends it requests once it is healthy. */
async function start(app: string, name: string): Promise<ServerProcess> {
  const node = ServerProcess.start({
    ...{ app, cwd: directory, port: await steadyPort(), env, log: join(directory, `${name}.log`) },
  });
  if (!(await node.healthy())) throw new Error(`${name} did not start; see its log in ${directory}`);
  rotation.add(node.url);
  return node;
}

/** Waits until the clients have had their turns. */
async function phase(name: string): Promise<void> {
  await figures.unlessFailed(figures.moreTurns(turnsOfPhase));
  say(`${String(figures.turns).padStart(8)}  turns: ${name}`);
}

/** Drains a node while it runs a turn that outlasts the drain. Returns the client of that turn. */
async function replace(node: ServerProcess): Promise<Client> {
  const client = newClient(`moved ${node.url}`);
  const text = await client.sendLong(node.url);
  if (text === undefined) return client;
  await figures.unlessFailed(model.whenAsked(text));
  rotation.drains(node.url);
  node.signal('SIGTERM');
  const outcome = await node.ended;
  rotation.remove(node.url);
  if (outcome !== 0) figures.fault(`an old node ended with ${String(outcome)}`);
  await figures.unlessFailed(client.verify());
  if (model.timesAsked(text) < 2) figures.fault(`${text}: was not handed over`);
  return client;
}
