import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { startProxy, type Proxy } from '../support/proxy.js';
import type { ServerOptions } from '../support/server-process.js';
import type { Figures } from './figures.js';
import type { Random } from './random.js';
import { ServedNode } from './served-node.js';
import { openDatabase, type Database } from './services/database.js';
import { OwnRedis } from './services/own-redis.js';
import { steadyPort } from './services/service-process.js';
import { StoreWeather } from './weather.js';
import { sleep, type Door } from './world.js';

const PREFIX = 'chaos';
/** How long a node may take to be well after everything else is. */
const WELL_MS = 10_000;

/** A node, and its way to the database. */
export interface Member {
  readonly node: ServedNode;
  readonly proxy: Proxy;
}

/** Several servers on one database and one Redis, all of them the harness's own. */
export class Fleet {
  readonly weather = new StoreWeather();

  private constructor(
    readonly members: readonly Member[],
    readonly database: Database,
    readonly redis: OwnRedis,
    private readonly figures: Figures,
  ) {}

  /** Nothing is started but the services. @throws when one is missing */
  static async open(
    count: number,
    { env, ...options }: Omit<ServerOptions, 'port' | 'log'>,
    figures: Figures,
  ): Promise<Fleet> {
    const redis = await OwnRedis.start(join(options.cwd, 'redis.log'));
    const database = await openDatabase(join(options.cwd, 'postgres.log'));
    const secretsKey = randomBytes(32).toString('base64');
    const members: Member[] = [];
    for (let n = 1; n <= count; n++) {
      const proxy = await startProxy(database.port, await steadyPort());
      const settings = {
        ...env,
        DATABASE_URL: database.url(proxy.port),
        REDIS_URL: redis.url,
        REDIS_PREFIX: PREFIX,
        SECRETS_KEY: secretsKey,
      };
      const name = `node ${String(n)}`;
      const log = join(options.cwd, `node-${String(n)}.log`);
      const served = { ...options, env: settings, port: await steadyPort(), log };
      members.push({ node: new ServedNode(name, served, figures), proxy });
    }
    return new Fleet(members, database, redis, figures);
  }

  get nodes(): readonly ServedNode[] {
    return this.members.map(({ node }) => node);
  }

  /** Mostly where somebody is; at times a client knocks at any door. */
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

  /** Starts every node that is down. One that fails while the store is away is started again. @throws when one does not start */
  async startAll(): Promise<void> {
    for (const node of this.nodes.filter(({ isRunning }) => !isRunning)) {
      for (;;) {
        const begun = Date.now();
        if (await node.start()) break;
        if (!this.weather.isRough(node.name, begun))
          throw new Error(`${node.name} did not start; see its log`);
        await sleep(500);
      }
    }
  }

  /** Sees to it that every node is healthy and hears the others, ten seconds after a time at the latest, without a restart. */
  async watchHealth(since: number, after: string): Promise<void> {
    const sick = await Promise.all(
      this.nodes.map(async (node) => {
        const until = Math.max(since, node.healthyAt) + WELL_MS;
        return (await within(until, () => node.isHealthy())) ? [] : [node.name];
      }),
    );
    for (const name of sick.flat()) this.figures.fault('unwell', `${name} after ${after}`);
    const latest = Math.max(since, ...this.nodes.map(({ healthyAt }) => healthyAt));
    const count = this.nodes.length;
    const channel = `${PREFIX}:everybody`;
    const hear = async (): Promise<boolean> => (await this.redis.listeners(channel)) === count;
    if (await within(latest + WELL_MS, hear)) return;
    const found = await this.redis.listeners(channel);
    this.figures.fault('unwell', `${String(found)} of ${String(count)} nodes hear the others after ${after}`);
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.abandon()));
    await Promise.all(this.members.map(({ proxy }) => proxy.close()));
    await this.redis.close();
    await this.database.close();
  }
}

/** Asks until it is so, and once at least. */
async function within(until: number, ask: () => Promise<boolean>): Promise<boolean> {
  for (;;) {
    if (await ask()) return true;
    if (Date.now() > until) return false;
    await sleep(100);
  }
}
