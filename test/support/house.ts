import { randomBytes } from 'node:crypto';
import { createSchemas } from '../../src/adapters/ajv/schemas.js';
import { seedPhrases } from '../../src/adapters/bip39/seed-phrases.js';
import { createMemoryBus } from '../../src/adapters/memory/bus.js';
import { nodeDigests } from '../../src/adapters/node/digests.js';
import { createSealer } from '../../src/adapters/node/sealer.js';
import { createLog } from '../../src/adapters/pino/log.js';
import { systemClock } from '../../src/adapters/uuid/clock.js';
import type { App } from '../../src/core/app.js';
import { isJsonObject, type JsonObject } from '../../src/core/json.js';
import type { Rig, Tool } from '../../src/core/ports.js';
import { createCore, type CoreService } from '../../src/core/service.js';
import type { CoreSettings } from '../../src/core/settings.js';
import type { Store } from '../../src/core/store.js';
import type { WalletSignIn } from '../../src/core/wallet-proofs.js';
import type { SurfaceName } from '../../src/surfaces/index.js';
import { testApp, TEST_SETTINGS } from './core.js';
import { serveCore, type Answer, type AskOptions, type TestServer } from './http.js';
import { ScriptedRig } from './scripted-rig.js';
import { openTestSqlite } from './sqlite.js';
import { openStream, type OpenStream } from './sse.js';

/** A request for a stream. */
interface WatchOptions {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** The service over HTTP with its real log, sealer and checks; all that it answers and logs is kept. */
export interface House extends TestServer {
  readonly core: CoreService;
  readonly store: Store;
  readonly rig: ScriptedRig;
  /** Every answer so far: status, headers and body. */
  readonly answers: readonly string[];
  /** All lines of the log so far. */
  log(): string;
  /** Opens a stream with the session's header. */
  watch(path: string, session: string, init?: WatchOptions): Promise<OpenStream>;
}

/** Serves a core over the given store, which `close` leaves to whoever gave it, or over one of its own. */
export async function openHouse(
  options: {
    readonly apps?: readonly App[];
    readonly tools?: readonly Tool[];
    readonly rigs?: readonly Rig[];
    readonly store?: Store;
    readonly keys?: readonly Buffer[];
    readonly surfaces?: readonly SurfaceName[];
    readonly settings?: Partial<CoreSettings>;
    readonly walletSignIn?: WalletSignIn;
  } = {},
): Promise<House> {
  const rig = new ScriptedRig();
  const store = options.store ?? (await openTestSqlite());
  const tools = options.tools ?? [];
  let logged = '';
  const log = createLog({ level: 'trace', destination: { write: (line) => (logged += line) } });
  const core = createCore({
    ...{ store, bus: createMemoryBus(), log, seedPhrases },
    rigs: options.rigs ?? [rig],
    apps: options.apps ?? [testApp()],
    tools: { list: () => tools },
    sealer: createSealer(options.keys ?? [randomBytes(32)]),
    ...{ schemas: createSchemas(), digests: nodeDigests, clock: systemClock },
    walletSignIn: options.walletSignIn ?? null,
    settings: { ...TEST_SETTINGS, ...options.settings },
  });
  const server = await serveCore(core, { log, ...(options.surfaces && { surfaces: options.surfaces }) });
  const answers: string[] = [];
  return {
    ...server,
    core,
    store,
    rig,
    answers,
    log: () => logged,
    async ask(method: string, path: string, asked?: AskOptions): Promise<Answer> {
      const answer = await server.ask(method, path, asked);
      const headers = [...answer.headers].map((header) => header.join(': '));
      answers.push([String(answer.status), ...headers, answer.text].join('\n'));
      return answer;
    },
    watch: (path, session, init = {}) =>
      openStream(server.url + path, { ...init, headers: { 'X-Session-Id': session, ...init.headers } }),
    async close() {
      await server.close();
      await core.close();
      if (options.store === undefined) await store.close();
    },
  };
}

/** The events of a stream as JSON objects. */
export function eventsOf(stream: OpenStream): readonly JsonObject[] {
  return stream.events.map(({ data }) => objectOf(JSON.parse(data)));
}

/** A JSON value that must be an object. */
export function objectOf(json: unknown): JsonObject {
  if (!isJsonObject(json)) throw new Error('this is no object');
  return json;
}
