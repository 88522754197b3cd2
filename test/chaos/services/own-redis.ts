import { Redis } from 'ioredis';
import { sleep } from '../world.js';
import { findProgram, ServiceProcess, steadyPort } from './service-process.js';

const START_MS = 10_000;

/** A Redis of the harness's own, that can be stopped and started. */
export class OwnRedis {
  #process: ServiceProcess | null = null;

  private constructor(
    private readonly command: string,
    private readonly log: string,
    readonly port: number,
  ) {}

  /** @throws when there is no redis-server on PATH */
  static async start(log: string): Promise<OwnRedis> {
    const command = findProgram('redis-server');
    if (command === undefined) throw new Error('there is no redis-server on PATH');
    const redis = new OwnRedis(command, log, await steadyPort());
    await redis.start();
    return redis;
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  get url(): string {
    return `redis://127.0.0.1:${String(this.port)}`;
  }

  /** Resolves once it answers. */
  async start(): Promise<void> {
    const args = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    this.#process = ServiceProcess.start({
      command: this.command,
      args,
      log: this.log,
      killSignal: 'SIGKILL',
    });
    const until = Date.now() + START_MS;
    while ((await this.#ask((client) => client.ping())) !== 'PONG') {
      if (this.#process.isOver || Date.now() > until) throw new Error('Redis did not start; see its log');
      await sleep(20);
    }
  }

  async stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await this.#process?.stop(signal);
  }

  /** It keeps its connections, takes new ones, and answers nothing. */
  freeze(): void {
    this.#process?.signal('SIGSTOP');
  }

  thaw(): void {
    this.#process?.signal('SIGCONT');
  }

  /** How many connections listen to a channel. */
  async listeners(channel: string): Promise<number> {
    const answer = await this.#ask((client) => client.call('PUBSUB', 'NUMSUB', channel));
    return Array.isArray(answer) ? Number(answer[1]) : 0;
  }

  async close(): Promise<void> {
    this.thaw();
    await this.stop('SIGKILL');
  }

  /** Undefined: it did not answer. */
  async #ask(run: (client: Redis) => Promise<unknown>): Promise<unknown> {
    const client = new Redis(this.url, {
      lazyConnect: true,
      connectTimeout: 1_000,
      commandTimeout: 1_000,
      retryStrategy: () => null,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return await run(client);
    } catch {
      return undefined;
    } finally {
      client.disconnect();
    }
  }
}
