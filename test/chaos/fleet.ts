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
/** How long a node may take to be well after everything else is; the time of the questions comes on top. */
const WELL_MS = 10_000;
const PAUSE_MS = 200;

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
    { env, firstApp, ...options }: Omit<ServerOptions, 'port' | 'log'> & { readonly firstApp: string },
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
      members.push({ node: new ServedNode(name, served, figures, firstApp), proxy });
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

  /** Sees to it that every node is healthy and hears the others, within ten seconds of now, without another start. */
  async watchHealth(after: string): Promise<void> {
    const sick = await Promise.all(
      this.nodes.map(async (node) => ((await inTime(() => node.isHealthy())) ? [] : [node.name])),
    );
    for (const name of sick.flat()) this.figures.fault('unwell', `${name} after ${after}`);
    const count = this.nodes.length;
    const listeners = (): Promise<number> => this.redis.listeners(`${PREFIX}:everybody`);
    if (await inTime(async () => (await listeners()) === count)) return;
    const found = `${String(await listeners())} of ${String(count)}`;
    this.figures.fault('unwell', `${found} nodes hear the others after ${after}`);
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.abandon()));
    await Promise.all(this.members.map(({ proxy }) => proxy.close()));
    await this.redis.close();
    await this.database.close();
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
