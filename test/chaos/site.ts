import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { startProxy, type Proxy } from '../support/proxy.js';
import type { ServerOptions } from '../support/server-process.js';
import { ClockFile } from './clock-file.js';
import type { Figures } from './figures.js';
import type { Random } from './random.js';
import { DRAIN_SECONDS, ServedNode } from './served-node.js';
import { openDatabase, type Database } from './services/database.js';
import { OwnRedis } from './services/own-redis.js';
import { steadyPort } from './services/service-process.js';
import { StoreWeather } from './store-weather.js';
import { sleep, type Door } from './world.js';

const PREFIX = 'chaos';
const CLOCK_MODULE = new URL('shifted-clock.mjs', import.meta.url).href;
/** How long a node may take to be well after everything else is; the time of the questions comes on top. */
const WELL_MS = 10_000;
const PAUSE_MS = 200;
/** On SQLite another service's writes are seen so long after; it looks once a second. */
const STALE_MS = 5_000;
const CLI_TIMEOUT_MS = 30_000;
/** So long a turn waits for a reported transaction, which is mined after a second. */
const CONFIRM_SECONDS = 6;

/** What a run is played on. */
export interface SiteOptions extends Pick<ServerOptions, 'app' | 'cwd'> {
  /** What the first start of each node runs. */
  readonly firstApp: string;
  readonly nodes: number;
  readonly store: 'sqlite' | 'postgres';
  readonly hasRedis: boolean;
  /** Whether the clock of PostgreSQL is to be set. */
  readonly withDatabaseClock: boolean;
  readonly figures: Figures;
}

/** The services, and everything that they stand on: all of it is the harness's own. */
export class Site {
  readonly weather = new StoreWeather();

  private constructor(
    readonly nodes: readonly ServedNode[],
    /** Each node's way to PostgreSQL; empty on SQLite. */
    private readonly proxies: ReadonlyMap<ServedNode, Proxy>,
    /** The clock of each node. Services on one SQLite file are on one machine and have one clock. */
    private readonly clocks: ReadonlyMap<ServedNode, ClockFile>,
    readonly database: Database | null,
    readonly redis: OwnRedis | null,
    /** The SQLite file; null on PostgreSQL. */
    readonly file: string | null,
    private readonly cli: Pick<ServerOptions, 'app' | 'cwd' | 'env'>,
    private readonly figures: Figures,
  ) {}

  /** Starts everything but the services. @throws when a program is missing */
  static async open(options: SiteOptions): Promise<Site> {
    const { app, firstApp, cwd, figures } = options;
    const redis = options.hasRedis ? await OwnRedis.start(join(cwd, 'redis.log')) : null;
    const isSqlite = options.store === 'sqlite';
    const database = isSqlite
      ? null
      : await openDatabase(join(cwd, 'postgres.log'), { withClock: options.withDatabaseClock });
    const file = isSqlite ? join(cwd, 'data', 'diptych.db') : null;
    const shared = {
      RATE_LIMIT: '0',
      STREAM_LIMIT: '0',
      DRAIN_TIMEOUT: String(DRAIN_SECONDS),
      WALLET_CONFIRM_TIMEOUT: String(CONFIRM_SECONDS),
      SECRETS_KEY: randomBytes(32).toString('base64'),
      ...(redis !== null && { REDIS_URL: redis.url, REDIS_PREFIX: PREFIX }),
    };
    const urlAt = (port: number): string => database?.url(port) ?? `sqlite:${file ?? ''}`;
    const machine = new ClockFile(join(cwd, 'clock'));
    const nodes: ServedNode[] = [];
    const proxies = new Map<ServedNode, Proxy>();
    const clocks = new Map<ServedNode, ClockFile>();
    const site = { restart: (_: ServedNode): void => undefined };
    for (let n = 1; n <= options.nodes; n++) {
      const proxy = database === null ? null : await startProxy(database.port, await steadyPort());
      const clock = isSqlite ? machine : new ClockFile(join(cwd, `clock-${String(n)}`));
      const served: ServerOptions = {
        ...{ app, cwd, port: await steadyPort(), log: join(cwd, `node-${String(n)}.log`) },
        env: { ...shared, DATABASE_URL: urlAt(proxy?.port ?? 0), CHAOS_CLOCK_FILE: clock.path },
        flags: ['--import', CLOCK_MODULE],
      };
      const node = new ServedNode(`node ${String(n)}`, served, figures, firstApp, (crashed) => {
        site.restart(crashed);
      });
      nodes.push(node);
      if (proxy !== null) proxies.set(node, proxy);
      clocks.set(node, clock);
    }
    const cli = { app, cwd, env: { ...shared, DATABASE_URL: urlAt(database?.port ?? 0) } };
    const opened = new Site(nodes, proxies, clocks, database, redis, file, cli, figures);
    site.restart = (node) => {
      void opened.#restartCrashed(node);
    };
    return opened;
  }

  get about(): string {
    const { nodes, database, redis } = this;
    const count = nodes.length === 1 ? 'one node' : `${String(nodes.length)} nodes`;
    const store = database === null ? (nodes.length === 1 ? 'SQLite' : 'one SQLite file') : database.about;
    return `${count} on ${store}, ${redis === null ? 'no Redis' : `Redis of its own on port ${String(redis.port)}`}`;
  }

  /** For how long a node may show what was so before. */
  get staleMs(): number {
    return this.file !== null && this.nodes.length > 1 ? STALE_MS : 0;
  }

  /** @throws when there is none: on SQLite */
  proxyOf(node: ServedNode): Proxy {
    const proxy = this.proxies.get(node);
    if (proxy === undefined) throw new Error(`${node.name} has no proxy`);
    return proxy;
  }

  /** The clock that this node reads. */
  clockOf(node: ServedNode): ClockFile {
    const clock = this.clocks.get(node);
    if (clock === undefined) throw new Error(`${node.name} has no clock`);
    return clock;
  }

  /** Mostly where a node is up; at times a client knocks at any door. */
  door(random: Random, except?: ServedNode): Door {
    const all = this.nodes.filter((node) => node !== except);
    const up = all.filter(({ isUp }) => isUp);
    const from = up.length > 0 && random.chance(0.95) ? up : all;
    const node = from[random.integer(0, from.length - 1)];
    if (node === undefined) throw new Error('there are no nodes');
    return node.door();
  }

  async whenUp(): Promise<void> {
    await Promise.race(this.nodes.map((node) => node.whenUp()));
  }

  /**
   * Starts every node that is down. One that fails while the store is away is started again. @throws when one does not
   * start
   */
  async startAll(): Promise<void> {
    await Promise.all(this.nodes.map((node) => this.startNode(node)));
  }

  /** Starts a node if it is down. @throws when it does not start */
  async startNode(node: ServedNode): Promise<void> {
    for (let failed = 0; !node.isRunning;) {
      const begun = Date.now();
      if (await node.start()) return;
      if (!this.weather.isRough(node.name, begun) && ++failed === 3)
        throw new Error(`${node.name} did not start three times; see ${node.log}`);
      await sleep(500);
    }
  }

  /** Checks that every node is healthy and receives signals of the others within ten seconds, without a restart. */
  async watchHealth(after: string): Promise<void> {
    const sick = await Promise.all(
      this.nodes.map(async (node) => ((await inTime(() => node.isHealthy())) ? [] : [node.name])),
    );
    for (const name of sick.flat()) this.figures.fault('unwell', `${name} after ${after}`);
    const { redis } = this;
    if (redis === null) return;
    const count = this.nodes.length;
    const listeners = (): Promise<number> => redis.listeners(`${PREFIX}:everybody`);
    if (await inTime(async () => (await listeners()) === count)) return;
    const found = `${String(await listeners())} of ${String(count)}`;
    this.figures.fault('unwell', `${found} nodes hear the others after ${after}`);
  }

  /** Deletes a session by the command line, past all proxies. False: it failed. */
  deleteByCli(id: string): Promise<boolean> {
    return this.command('sessions', 'delete', id);
  }

  /** Runs a command of the service beside it, past all proxies. False: it failed. */
  command(...args: readonly string[]): Promise<boolean> {
    const { app, cwd, env } = this.cli;
    const child = spawn(process.execPath, [join(app, 'dist/cli/diptych.js'), ...args], {
      cwd,
      env: { PATH: process.env.PATH, ...env },
      stdio: 'ignore',
      timeout: CLI_TIMEOUT_MS,
    });
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => {
        resolve(code === 0);
      });
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.abandon()));
    await Promise.all([...this.proxies.values()].map((proxy) => proxy.close()));
    await this.redis?.close();
    await this.database?.close();
  }

  /** What a supervisor does. One that fails is started again when the weather is over. */
  async #restartCrashed(node: ServedNode): Promise<void> {
    await sleep(200);
    if (!node.isRunning) await node.start();
  }
}

/** Asks until it is so, or the time is over. */
async function inTime(ask: () => Promise<boolean>): Promise<boolean> {
  for (let waited = 0; waited < WELL_MS; waited += PAUSE_MS) {
    if (await ask()) return true;
    await sleep(PAUSE_MS);
  }
  return ask();
}
