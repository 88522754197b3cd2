import { appendFileSync } from 'node:fs';
import { ServerProcess, type ServerOptions } from '../support/server-process.js';
import type { Followed } from './client.js';
import type { Figures } from './figures.js';
import { pollState } from './polling.js';
import { Random } from './random.js';
import { sleep, type Fate, type World } from './world.js';

/** A session open at a kill runs again, or has ended, so long after the restart. */
const STUCK_MS = 10_000;
/** DRAIN_TIMEOUT, the grace of open requests, and what a busy machine takes. */
export const DRAIN_SECONDS = 1;
const DRAIN_MS = 12_000;

/** Starts, kills, drains and restarts the server. */
export class Operator {
  readonly #random: Random;
  readonly #fates: Fate[] = [];
  #server: ServerProcess | null = null;
  #up: Promise<void> = Promise.resolve();
  #setUp: () => void = () => undefined;
  #healthyAt = 0;
  #isDown = false;

  constructor(
    private readonly options: ServerOptions,
    private readonly figures: Figures,
    seed: string,
  ) {
    this.#random = new Random(seed, 'operator');
    this.#down();
  }

  get base(): string {
    return `http://127.0.0.1:${String(this.options.port)}`;
  }

  get generation(): number {
    return this.#fates.length;
  }

  fateOf(generation: number): Fate {
    return this.#fates[generation - 1] ?? 'killed';
  }

  whenUp(): Promise<void> {
    return this.#up;
  }

  /** Starts the server and waits until it is healthy. @throws when it does not start */
  async start(): Promise<void> {
    appendFileSync(
      this.options.log,
      `--- start ${String(this.generation + 1)} ${new Date().toISOString()}\n`,
    );
    const server = ServerProcess.start(this.options);
    this.#server = server;
    this.#fates.push('running');
    const generation = this.generation;
    void server.ended.then((outcome) => {
      if (this.fateOf(generation) !== 'running') return;
      this.figures.fault('crash', `start ${String(generation)} ended by itself with ${String(outcome)}`);
      this.#fates[generation - 1] = 'killed';
    });
    if (!(await server.healthy())) throw new Error('the server did not start; see its log');
    this.#healthyAt = Date.now();
    this.#isDown = false;
    this.#setUp();
  }

  /** Kills until it has killed so often. Ends with a healthy server. */
  async run(world: World, kills: number, conversations: () => readonly Followed[]): Promise<void> {
    const random = this.#random;
    while (this.figures.of('kills') < kills) {
      await sleep(random.between(300, 1500));
      const open = conversations().filter(({ conversation }) => conversation.open.length > 0);
      this.figures.count('openAtKill', open.length);
      if (random.chance(0.15)) await this.#drain(random.chance(0.3));
      else await this.#kill();
      await this.#restart();
      while (random.chance(0.3) && this.figures.of('kills') < kills) {
        // Before, in or after the seconds in which leases run out and turns are taken over.
        await sleep(random.between(0, random.chance(0.5) ? 400 : 8000));
        this.figures.count('doubleKills');
        await this.#kill();
        await this.#restart();
      }
      await this.#watchRecovery(world, open);
    }
  }

  async stop(): Promise<void> {
    if (this.#server === null) return;
    this.figures.count('drains');
    await this.#terminate(this.#server);
  }

  /** Ends the server whatever it does. */
  async abandon(): Promise<void> {
    this.#fates[this.generation - 1] = 'killed';
    await this.#server?.kill();
  }

  async #restart(): Promise<void> {
    if (this.#random.chance(0.3)) await sleep(this.#random.between(0, 500));
    await this.start();
  }

  async #kill(): Promise<void> {
    this.figures.count('kills');
    this.#fates[this.generation - 1] = 'killed';
    this.#down();
    await this.#server?.kill();
  }

  async #drain(isKilled: boolean): Promise<void> {
    if (this.#server === null) return;
    this.figures.count('drains');
    if (!isKilled) {
      await this.#terminate(this.#server);
      return;
    }
    this.#fates[this.generation - 1] = 'draining';
    this.#down();
    this.#server.signal('SIGTERM');
    await sleep(this.#random.between(0, 1200));
    if (this.#server.outcome === undefined) this.figures.count('killedDrains');
    await this.#kill();
  }

  async #terminate(server: ServerProcess): Promise<void> {
    const at = this.generation - 1;
    this.#fates[at] = 'draining';
    this.#down();
    server.signal('SIGTERM');
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<string>((resolve) => (timer = setTimeout(resolve, DRAIN_MS, 'nothing')));
    const outcome = await Promise.race([server.ended, late]);
    clearTimeout(timer);
    if (outcome === 0) {
      this.#fates[at] = 'drained';
      return;
    }
    this.figures.fault(
      'drain',
      `start ${String(at + 1)}: ${String(outcome)} after ${String(DRAIN_MS)} ms at most`,
    );
    this.#fates[at] = 'killed';
    await server.kill();
  }

  #down(): void {
    if (this.#isDown) return;
    this.#isDown = true;
    this.#up = new Promise((resolve) => (this.#setUp = resolve));
  }

  /** Every session that was open at the kill is worked on again, or has ended, ten seconds after the server is back. */
  async #watchRecovery(world: World, open: readonly Followed[]): Promise<void> {
    const healthyAt = this.#healthyAt;
    let waiting = open;
    while (waiting.length > 0 && Date.now() < healthyAt + STUCK_MS) {
      await sleep(250);
      waiting = waiting.filter(({ conversation }) => world.upstream.lastAsked(conversation.name) < healthyAt);
      const states = await Promise.all(waiting.map(({ conversation }) => pollState(world, conversation)));
      waiting = waiting.filter((_, index) => states[index]?.is_processing !== false);
    }
    for (const { conversation } of waiting) {
      if (world.upstream.lastAsked(conversation.name) >= healthyAt) continue;
      this.figures.fault(
        'stuck',
        `${conversation.name} (${conversation.id}), start ${String(this.generation)}`,
      );
    }
  }
}
