import type { Followed } from './client.js';
import type { Figures } from './figures.js';
import { Random } from './random.js';
import { openAmong, watchRecovery } from './recovery.js';
import type { ServedNode } from './served-node.js';
import type { Service } from './service.js';
import { FAIR, sleep, type Door, type World } from './world.js';

/** Kills, drains and restarts one server. */
export class Operator implements Service {
  readonly about = 'one node on SQLite';
  readonly notes: readonly string[] = [];
  readonly weather = FAIR;
  readonly #random: Random;
  readonly #watching: Random;

  constructor(
    private readonly node: ServedNode,
    private readonly figures: Figures,
    seed: string,
  ) {
    this.#random = new Random(seed, 'operator');
    this.#watching = new Random(seed, 'watching');
  }

  get nodes(): readonly ServedNode[] {
    return [this.node];
  }

  door(): Door {
    return this.node.door();
  }

  isTroubledSince(): boolean {
    return false;
  }

  whenUp(): Promise<void> {
    return this.node.whenUp();
  }

  close(): Promise<void> {
    return this.node.abandon();
  }

  /** Starts the server and waits until it is healthy. @throws when it does not start */
  async start(): Promise<void> {
    if (!(await this.node.start())) throw new Error('the server did not start; see its log');
  }

  /** Kills until it has killed so often. Ends with a healthy server. */
  async run(world: World, kills: number, conversations: () => readonly Followed[]): Promise<void> {
    const random = this.#random;
    while (this.figures.of('kills') < kills) {
      await sleep(random.between(300, 1500));
      const open = openAmong(conversations(), this.figures);
      if (!random.chance(0.15)) await this.node.kill();
      else if (random.chance(0.3)) await this.node.killDraining(random.between(0, 1200));
      else await this.node.drain();
      await this.#restart();
      while (random.chance(0.3) && this.figures.of('kills') < kills) {
        // Before, in or after the seconds in which leases run out and turns are taken over.
        await sleep(random.between(0, random.chance(0.5) ? 400 : 8000));
        this.figures.count('doubleKills');
        await this.node.kill();
        await this.#restart();
      }
      const after = `start ${String(this.node.generation)}`;
      await watchRecovery(world, open, { since: this.node.healthyAt, after, random: this.#watching });
    }
  }

  async #restart(): Promise<void> {
    if (this.#random.chance(0.3)) await sleep(this.#random.between(0, 500));
    await this.start();
  }
}
