/** How throughput grows from one node to two on this machine. See `--help`. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openDatabase } from '../chaos/services/database.js';
import { OwnRedis } from '../chaos/services/own-redis.js';
import { steadyPort } from '../chaos/services/service-process.js';
import { ask, closeConnections } from '../chaos/wire.js';
import { buildCheckout, exitOnSignals, freezeBuild, ROOT, ServerProcess } from '../support/server-process.js';
import { busySeconds, cpuSeconds } from './cpu.js';

const HELP = `npm run bench:nodes -- [--seconds 10] [--rounds 3] [--clients 16] [--no-build]

Turns and reads of the state a second, with one node and with two, on PostgreSQL and Redis started for it. Rounds are interleaved. Load
generator, PostgreSQL, Redis and nodes share this machine's cores, so that the figure shows what a second node costs and gains here, not
what it would give on a machine of its own; the seconds of CPU say how much of a core each part took.
`;
const WARM_UP_MS = 2_000;
/** Turns of one thread. */
const TURNS = 10;

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    clients: { type: 'string', default: '16' },
    'no-build': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
type Kind = 'turns' | 'reads';

/** Of one measurement. */
interface Figure {
  readonly rate: number;
  /** Cores that were busy: the nodes', this process's, and all others', PostgreSQL and Redis first. */
  readonly cores: { readonly nodes: number; readonly load: number; readonly others: number };
}

if (options.help) process.stdout.write(HELP);
else process.exit(await main());

async function main(): Promise<number> {
  exitOnSignals();
  if (!options['no-build']) await buildCheckout();
  const directory = mkdtempSync(join(tmpdir(), 'diptych-bench-'));
  const redis = await OwnRedis.start(join(directory, 'redis.log'));
  const database = await openDatabase(join(directory, 'postgres.log'));
  const common = {
    app: freezeBuild(ROOT, join(directory, 'app')),
    cwd: directory,
    log: join(directory, 'nodes.log'),
    env: {
      DATABASE_URL: database.url(database.port),
      REDIS_URL: redis.url,
      SECRETS_KEY: randomBytes(32).toString('base64'),
      ...{ RATE_LIMIT: '0', STREAM_LIMIT: '0', DEMO_TOKEN_MS: '0', LOG_LEVEL: 'warn' },
    },
  };
  const figures = new Map<string, Figure[]>();
  process.stdout.write(`${String(availableParallelism())} cores, ${database.about}\n`);
  try {
    for (let round = 0; round < Number(options.rounds); round++) {
      // Which comes first changes, so that what grows meanwhile favours neither.
      for (const count of round % 2 === 0 ? [1, 2] : [2, 1]) {
        const nodes: ServerProcess[] = [];
        for (let n = 0; n < count; n++) {
          const node = ServerProcess.start({ ...common, port: await steadyPort() });
          if (!(await node.healthy())) throw new Error('a node did not start; see its log');
          nodes.push(node);
        }
        const sessions: string[] = Array.from({ length: Number(options.clients) }, () => randomUUID());
        for (const kind of ['turns', 'reads'] as const) {
          await load(kind, nodes, sessions, WARM_UP_MS);
          const figure = await measure(kind, nodes, sessions);
          const name = `${kind} ${String(count)}`;
          figures.set(name, [...(figures.get(name) ?? []), figure]);
          process.stdout.write(`${line(`${name} node${count === 1 ? '' : 's'}`, figure)}\n`);
        }
        await Promise.all(nodes.map((node) => node.kill()));
      }
    }
  } finally {
    closeConnections();
    await redis.close();
    await database.close();
    rmSync(directory, { recursive: true, force: true });
  }
  for (const kind of ['turns', 'reads'] as const) {
    const [one, two] = [1, 2].map((count) => middle(figures.get(`${kind} ${String(count)}`) ?? []));
    const growth = ((two?.rate ?? 0) / (one?.rate ?? 1)).toFixed(2);
    process.stdout.write(
      `${kind}: ${(one?.rate ?? 0).toFixed(0)}/s with one node, ${(two?.rate ?? 0).toFixed(0)}/s with two: × ${growth} (medians)\n`,
    );
  }
  return 0;
}

async function measure(kind: Kind, nodes: readonly ServerProcess[], sessions: string[]): Promise<Figure> {
  const nodeSeconds = (): number => nodes.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
  const before = { nodes: nodeSeconds(), load: cpuSeconds(process.pid), all: busySeconds() };
  const begun = performance.now();
  const done = await load(kind, nodes, sessions, Number(options.seconds) * 1000);
  const seconds = (performance.now() - begun) / 1000;
  const own = (nodeSeconds() - before.nodes) / seconds;
  const generator = (cpuSeconds(process.pid) - before.load) / seconds;
  const all = (busySeconds() - before.all) / seconds;
  return { rate: done / seconds, cores: { nodes: own, load: generator, others: all - own - generator } };
}

/**
 * Every client asks again as soon as it is answered, each time at the next node. Returns how often they were answered.
 */
async function load(
  kind: Kind,
  nodes: readonly ServerProcess[],
  sessions: string[],
  milliseconds: number,
): Promise<number> {
  const until = performance.now() + milliseconds;
  let done = 0;
  const client = async (given: string, index: number): Promise<void> => {
    let id = given;
    for (let n = 1; performance.now() < until; n++) {
      // What a thread costs grows with its length: all are short.
      if (kind === 'turns' && n % TURNS === 0) sessions[index] = id = randomUUID();
      const base = nodes[(index + n) % nodes.length]?.url ?? '';
      const headers = { 'X-Session-Id': id };
      const answer =
        kind === 'turns'
          ? await ask({
              method: 'POST',
              url: `${base}/api/chat?message=Hello%20there`,
              headers: { ...headers, Prefer: 'wait=20' },
            })
          : await ask({ method: 'GET', url: `${base}/api/state?tail=20`, headers });
      if (answer.status !== 200 || !answer.body.includes('"is_processing":false')) {
        throw new Error(`${String(answer.status)} ${answer.body.slice(0, 300)}`);
      }
      done++;
    }
  };
  await Promise.all(sessions.map(client));
  return done;
}

function middle(figures: readonly Figure[]): Figure | undefined {
  return [...figures].sort((a, b) => a.rate - b.rate)[Math.floor(figures.length / 2)];
}

function line(name: string, { rate, cores }: Figure): string {
  const parts = [
    ['nodes', cores.nodes],
    ['load', cores.load],
    ['PostgreSQL, Redis and others', cores.others],
  ] as const;
  const shares = parts.map(([part, share]) => `${part} ${share.toFixed(2)}`).join(', ');
  return `  ${name.padEnd(14)} ${rate.toFixed(0).padStart(6)}/s   cores: ${shares}`;
}
