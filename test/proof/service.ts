import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../chaos/services/database.js';
import { OwnRedis } from '../chaos/services/own-redis.js';
import { steadyPort } from '../chaos/services/service-process.js';
import { freezeBuild, ROOT, ServerProcess } from '../support/server-process.js';

/** The service under proof, as its users start it. */
export interface Service {
  /** The base URL of each node. */
  readonly urls: readonly [string, ...string[]];
  /** Drains every node. Resolves with how each ended that did not end with 0. */
  stop(): Promise<readonly string[]>;
}

export interface ServiceOptions {
  readonly directory: string;
  /** The model provider's base URL. */
  readonly upstream: string;
  /** One node is on SQLite; two are on PostgreSQL and Redis, started for them. */
  readonly nodes: 1 | 2;
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts nodes whose model is a scripted provider. @throws when one does not become healthy */
export async function startService({
  directory,
  upstream,
  nodes,
  env = {},
}: ServiceOptions): Promise<Service> {
  writeFileSync(
    join(directory, 'diptych.yaml'),
    `rigs:
  - id: scripted
    name: Scripted
    provider: openai-compatible
    model: scripted
    baseUrl: ${upstream}
    apiKey: sk-scripted
`,
  );
  const shared = nodes === 1 ? null : await openShared(directory);
  const app = freezeBuild(ROOT, join(directory, 'app'));
  const processes: ServerProcess[] = [];
  for (let n = 1; n <= nodes; n++) {
    const node = ServerProcess.start({
      ...{ app, cwd: directory, port: await steadyPort(), log: join(directory, `node-${String(n)}.log`) },
      env: {
        DATABASE_URL: `sqlite:${join(directory, 'data', 'diptych.db')}`,
        ...shared?.env,
        ...{ RATE_LIMIT: '0', STREAM_LIMIT: '0', LOG_LEVEL: 'warn' },
        ...env,
      },
    });
    processes.push(node);
    if (!(await node.healthy())) throw new Error(`a node did not start; see its log in ${directory}`);
  }
  const [first = '', ...others] = processes.map(({ url }) => url);
  return {
    urls: [first, ...others],
    async stop() {
      for (const node of processes) node.signal('SIGTERM');
      const ends = await Promise.all(processes.map(({ ended }) => ended));
      await shared?.close();
      return ends.filter((end) => end !== 0).map(String);
    },
  };
}

async function openShared(directory: string) {
  const redis = await OwnRedis.start(join(directory, 'redis.log'));
  const database = await openDatabase(join(directory, 'postgres.log'));
  return {
    env: {
      DATABASE_URL: database.url(database.port),
      REDIS_URL: redis.url,
      SECRETS_KEY: randomBytes(32).toString('base64'),
    },
    async close() {
      await redis.close();
      await database.close();
    },
  };
}
