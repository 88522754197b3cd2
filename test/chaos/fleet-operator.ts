import type { Followed } from './client.js';
import type { Figures } from './figures.js';
import type { Fleet, Member } from './fleet.js';
import { Random } from './random.js';
import { openAmong, watchRecovery } from './recovery.js';
import type { ServedNode } from './served-node.js';
import type { Service } from './service.js';
import { sleep, type Door, type Weather, type World } from './world.js';

type Episode = 'kill' | 'killTwo' | 'drain' | 'redis' | 'cut' | 'partition' | 'restart';

/** Each happens as often as it stands here before any happens again. */
const DECK: readonly Episode[] = ['kill', 'kill', 'killTwo', 'drain', 'redis', 'cut', 'partition', 'restart'];
/** A node that is cut off for so long has lost its turns to others. */
const LEASE_MS = 6_000;

/** What an episode leaves to be watched. */
interface Aftermath {
  /** From when on everything must come right. */
  readonly since: number;
  readonly after: string;
}

/** Kills, drains and restarts nodes, and breaks what they stand on. */
export class FleetOperator implements Service {
  readonly notes: string[] = [];
  readonly #random: Random;
  readonly #watching: Random;
  /** When the last fault was over, with all that came of it; null: it is not. */
  #quietSince: number | null = 0;

  constructor(
    private readonly fleet: Fleet,
    private readonly figures: Figures,
    seed: string,
  ) {
    this.#random = new Random(seed, 'operator');
    this.#watching = new Random(seed, 'watching');
  }

  get about(): string {
    const { nodes, database, redis } = this.fleet;
    return `${String(nodes.length)} nodes on ${database.about}, Redis of its own on port ${String(redis.port)}`;
  }

  get weather(): Weather {
    return this.fleet.weather;
  }

  get nodes(): readonly ServedNode[] {
    return this.fleet.nodes;
  }

  door(random: Random): Door {
    return this.fleet.door(random);
  }

  isTroubledSince(time: number): boolean {
    return this.#quietSince === null || this.#quietSince >= time;
  }

  whenUp(): Promise<void> {
    return this.fleet.whenUp();
  }

  close(): Promise<void> {
    return this.fleet.close();
  }

  /** @throws when a node does not start */
  async start(): Promise<void> {
    await this.fleet.startAll();
  }

  /** Goes on until it has killed so often and everything has happened once. Ends with all nodes well. */
  async run(world: World, kills: number, conversations: () => readonly Followed[]): Promise<void> {
    do {
      for (const episode of this.#random.shuffle(DECK)) {
        await sleep(this.#random.between(300, 1500));
        const open = openAmong(conversations(), this.figures);
        this.#quietSince = null;
        const { since, after } = await this.#run(episode, world, open);
        const took = (): string => ((Date.now() - since) / 1000).toFixed(1);
        const [recovered] = await Promise.all([
          watchRecovery(world, open, { since, after, random: this.#watching }).then(took),
          this.#restart().then(() => this.fleet.watchHealth(after)),
        ]);
        const what = `${String(open.length)} open threads at work or ended after ${recovered} s`;
        this.notes.push(`${after}: ${what}, all nodes up and well after ${took()} s`);
        this.#quietSince = Date.now();
      }
    } while (this.figures.of('kills') < kills);
  }

  async #restart(): Promise<void> {
    await sleep(this.#random.between(0, 3000));
    await this.fleet.startAll();
  }

  async #run(episode: Episode, world: World, open: readonly Followed[]): Promise<Aftermath> {
    const random = this.#random;
    const members = random.shuffle(this.fleet.members);
    const [first, second] = members;
    if (first === undefined || second === undefined) throw new Error('there are not enough nodes');
    switch (episode) {
      case 'kill':
        return this.#kill(first);
      case 'killTwo': {
        await this.#kill(first);
        // Before, in or after the seconds in which leases run out and turns are taken over.
        await sleep(random.between(0, random.chance(0.5) ? 400 : 8000));
        this.figures.count('doubleKills');
        // At times the first is back by then, at times nobody but the third is left.
        if (random.chance(0.3)) await this.fleet.startAll();
        return this.#kill(second);
      }
      case 'drain':
        if (random.chance(0.3)) await first.node.killDraining(random.between(0, 1200));
        else await first.node.drain();
        return { since: Date.now(), after: `the drain of ${first.node.name}` };
      case 'redis':
        return this.#redis(first);
      case 'cut':
        return this.#cut();
      case 'partition':
        return this.#partition(first, world, open);
      case 'restart':
        return this.#restartDatabase(first);
    }
  }

  async #kill({ node }: Member): Promise<Aftermath> {
    const since = Date.now();
    await node.kill();
    return { since, after: `a kill of ${node.name}` };
  }

  /** Redis goes away for some seconds, or freezes; at times a node dies meanwhile, and may come back to a world without it. */
  async #redis(member: Member): Promise<Aftermath> {
    const random = this.#random;
    const { redis } = this.fleet;
    const isFrozen = random.chance(0.35);
    this.figures.count(isFrozen ? 'redisFreezes' : 'redisStops');
    if (isFrozen) redis.freeze();
    else await redis.stop(random.pick(['SIGTERM', 'SIGKILL']));
    await sleep(random.between(200, isFrozen ? 11_000 : 4000));
    const [isKilled, isBackBefore] = [random.chance(0.4), random.chance(0.5)];
    if (isKilled) {
      await member.node.kill();
      await sleep(random.between(0, 3000));
      if (isBackBefore) await this.fleet.startAll();
    }
    if (isFrozen) redis.thaw();
    else await redis.start();
    const what = isFrozen ? 'a frozen Redis' : 'a restart of Redis';
    return { since: Date.now(), after: what + (isKilled ? ` and a kill of ${member.node.name}` : '') };
  }

  async #cut(): Promise<Aftermath> {
    const times = this.#random.integer(1, 3);
    this.figures.count('databaseCuts', times);
    this.fleet.weather.begin(null);
    for (let time = 0; time < times; time++) {
      await this.fleet.database.cutConnections();
      await sleep(this.#random.between(0, 700));
    }
    this.fleet.weather.clear();
    return { since: Date.now(), after: 'a cut of the connections to PostgreSQL' };
  }

  /** One node alone cannot reach the store: its packets vanish, or its connections are refused. */
  async #partition({ node, proxy }: Member, world: World, open: readonly Followed[]): Promise<Aftermath> {
    const random = this.#random;
    const isSilent = random.chance(0.6);
    const milliseconds = random.chance(0.3) ? random.between(300, 4000) : random.between(8500, 12_000);
    this.figures.count('partitions');
    this.fleet.weather.begin(node.name);
    const since = Date.now();
    const after = `${isSilent ? 'a silent' : 'a refusing'} partition of ${node.name}`;
    if (isSilent) proxy.stall();
    else await proxy.cut();
    const others: World = { ...world, door: (by) => this.fleet.door(by, node) };
    const taken =
      milliseconds > LEASE_MS
        ? watchRecovery(others, open, { since, after: `the beginning of ${after}`, random: this.#watching })
        : Promise.resolve();
    await sleep(milliseconds);
    await proxy.restore();
    this.fleet.weather.clear();
    const restoredAt = Date.now();
    await taken;
    return { since: restoredAt, after };
  }

  async #restartDatabase(member: Member): Promise<Aftermath> {
    const random = this.#random;
    const { database, weather, members } = this.fleet;
    const isOrderly = random.chance(0.5);
    const isKilled = random.chance(0.4);
    this.figures.count('databaseRestarts');
    weather.begin(null);
    if (database.server !== null) await database.server.stop(isOrderly);
    else await Promise.all(members.map(({ proxy }) => proxy.cut()));
    await sleep(random.between(0, random.chance(0.3) ? 9000 : 3000));
    if (isKilled) await member.node.kill();
    if (database.server !== null) await database.server.start();
    else await Promise.all(members.map(({ proxy }) => proxy.restore()));
    weather.clear();
    const what = `${isOrderly ? 'an orderly' : 'a sudden'} restart of PostgreSQL`;
    return { since: Date.now(), after: what + (isKilled ? ` and a kill of ${member.node.name}` : '') };
  }
}
