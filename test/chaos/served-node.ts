import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { ServerProcess, type ServerOptions } from '../support/server-process.js';
import type { Figures } from './figures.js';
import { sleep, type Door } from './world.js';

/** What the operator did with a start of a server. */
interface Fate {
  wasDrained: boolean;
  wasKilled: boolean;
}

/** DRAIN_TIMEOUT of the servers. */
export const DRAIN_SECONDS = 1;
/** So long after descriptors are free again, connections that waited may still be refused. */
const FULL_GRACE_MS = 3_000;
/** With the grace of open requests, and what a busy machine takes. */
const DRAIN_MS = 12_000;

/** One server that is started, killed, drained and started again, and what became of each of its starts. */
export class ServedNode {
  /** When it was last healthy after a start. */
  healthyAt = 0;
  readonly #fates: Fate[] = [];
  #server: ServerProcess | null = null;
  #up: Promise<void> = Promise.resolve();
  #setUp: () => void = () => undefined;
  #isDown = false;
  /** Until when connections could be refused because its descriptors were used up. */
  #fullUntil = 0;
  #descriptors: number | undefined;

  /**
   * @param firstApp what its first start runs, where that is another build than later ones: then those deploy a new
   * version
   */
  constructor(
    readonly name: string,
    private readonly options: ServerOptions,
    private readonly figures: Figures,
    private readonly firstApp = options.app,
    /** Called when it ended and nobody had ended it. */
    private readonly onCrash: (node: ServedNode) => void = () => undefined,
  ) {
    this.#down();
  }

  get base(): string {
    return `http://127.0.0.1:${String(this.options.port)}`;
  }

  get log(): string {
    return this.options.log;
  }

  /** How often it was started. */
  get generation(): number {
    return this.#fates.length;
  }

  get isUp(): boolean {
    return !this.#isDown;
  }

  /** True while a process of it is there, healthy or not. */
  get isRunning(): boolean {
    return this.#server !== null && this.#server.outcome === undefined;
  }

  /** Resolves once it is healthy. */
  whenUp(): Promise<void> {
    return this.#up;
  }

  /** A way in for one request that begins now. */
  door(): Door {
    const since = this.generation;
    const wasDown = this.#isDown;
    const askedAt = Date.now();
    const fates = (): readonly Fate[] => this.#fates.slice(Math.max(0, since - 1));
    return {
      node: this.name,
      base: this.base,
      mayRefuse: () => since !== this.generation || fates().some(({ wasDrained }) => wasDrained),
      mayBreak: () => fates().some(({ wasKilled }) => wasKilled),
      mayBeShut: () =>
        wasDown || this.#isDown || since !== this.generation || this.#fullUntil + FULL_GRACE_MS >= askedAt,
    };
  }

  /** Starts the server and waits until it is healthy. False when it ended before. */
  async start(): Promise<boolean> {
    const at = new Date().toISOString();
    appendFileSync(this.options.log, `--- start ${String(this.generation + 1)} ${at}\n`);
    const app = this.generation === 0 ? this.firstApp : this.options.app;
    const server = ServerProcess.start({ ...this.options, app, descriptors: this.#descriptors });
    this.#server = server;
    const fate: Fate = { wasDrained: false, wasKilled: false };
    const which = `${this.name} start ${String(this.#fates.push(fate))}`;
    const begun = { healthy: false };
    void server.ended.then((outcome) => {
      if (fate.wasDrained || fate.wasKilled) return;
      fate.wasKilled = true;
      this.#down();
      if (!begun.healthy) return;
      this.figures.fault('crash', `${which} ended by itself with ${String(outcome)}; ${this.#lastWords()}`);
      this.onCrash(this);
    });
    if (!(await server.healthy())) return false;
    begun.healthy = true;
    this.healthyAt = Date.now();
    this.#isDown = false;
    this.#setUp();
    return true;
  }

  /** Returns the status of `GET /api/health`; undefined: no response, for so many milliseconds at most. */
  health(milliseconds?: number): Promise<number | undefined> {
    return this.#server?.status(milliseconds) ?? Promise.resolve(undefined);
  }

  /** Whether its health check says so now. */
  async isHealthy(): Promise<boolean> {
    return (await this.health()) === 200;
  }

  /** Stops it (SIGSTOP) without ending it. Resolves once the kernel has stopped it. */
  async freeze(): Promise<void> {
    this.#down();
    this.#server?.signal('SIGSTOP');
    while (this.isRunning && this.#state() !== 'T') await sleep(1);
  }

  /** Continues it (SIGCONT). */
  thaw(): void {
    this.#server?.signal('SIGCONT');
    if (!this.isRunning) return;
    this.#isDown = false;
    this.#setUp();
  }

  /** How many descriptors it has open. */
  get openDescriptors(): number {
    try {
      return readdirSync(`/proc/${String(this.#server?.pid ?? 0)}/fd`).length;
    } catch {
      return 0;
    }
  }

  /** How many descriptors its next starts may have; undefined: as many as this process. */
  limitDescriptors(count: number | undefined): void {
    this.#descriptors = count;
  }

  /** Notes that it may have no descriptor left for a connection, or that it has again. */
  setFull(isFull: boolean): void {
    this.#fullUntil = isFull ? Infinity : Date.now();
  }

  async kill(): Promise<void> {
    this.figures.count('kills');
    await this.abandon();
  }

  /** Ends the server whatever it does, without counting it. */
  async abandon(): Promise<void> {
    this.#note({ wasKilled: true });
    await this.#server?.kill();
  }

  /** Sends it SIGTERM, which drains it, and kills it so long after. */
  async killDraining(milliseconds: number): Promise<void> {
    this.#note({ wasDrained: true });
    this.figures.count('drains');
    this.#server?.signal('SIGTERM');
    await sleep(milliseconds);
    if (this.isRunning) this.figures.count('killedDrains');
    await this.kill();
  }

  /** Drains it, which must end it with 0 in time. */
  async drain(): Promise<void> {
    const server = this.#server;
    if (server === null) return;
    this.figures.count('drains');
    this.#note({ wasDrained: true });
    server.signal('SIGTERM');
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<string>((resolve) => (timer = setTimeout(resolve, DRAIN_MS, 'nothing')));
    const outcome = await Promise.race([server.ended, late]);
    clearTimeout(timer);
    if (outcome === 0) return;
    const which = `${this.name} start ${String(this.generation)}`;
    this.figures.fault('drain', `${which}: ${String(outcome)} after ${String(DRAIN_MS)} ms at most`);
    this.#note({ wasKilled: true });
    await server.kill();
  }

  /** Called before it happens, so that a request that meets it is excused. */
  #note(change: Partial<Fate>): void {
    const fate = this.#fates.at(-1);
    if (fate !== undefined) Object.assign(fate, change);
    this.#down();
  }

  /** Its state in the process table, `T` when it is stopped. */
  #state(): string | undefined {
    try {
      return /\) (\w)/.exec(readFileSync(`/proc/${String(this.#server?.pid ?? 0)}/stat`, 'utf8'))?.[1];
    } catch {
      return 'T';
    }
  }

  /** The end of its log. */
  #lastWords(): string {
    return `log: ${JSON.stringify(readFileSync(this.options.log, 'utf8').trimEnd().slice(-400))}`;
  }

  #down(): void {
    if (this.#isDown) return;
    this.#isDown = true;
    this.#up = new Promise((resolve) => (this.#setUp = resolve));
  }
}
