import { randomBytes } from 'node:crypto';
import { openTelemetry, type Telemetry } from '../../src/composition/telemetry.js';
import { createChains } from '../../src/adapters/tools/evm/requests/create-chains.js';
import { createSchemas } from '../../src/adapters/tools/schema/schemas.js';
import { seedPhrases } from '../../src/adapters/tools/seed-phrases/seed-phrases.js';
import { createMemoryBus } from '../../src/adapters/bus/memory/bus.js';
import { nodeDigests } from '../../src/adapters/platform/node/digests.js';
import { createSealer } from '../../src/adapters/platform/node/sealer.js';
import { createLog } from '../../src/adapters/telemetry/pino/log.js';
import { systemClock } from '../../src/adapters/platform/uuid/clock.js';
import { createAdmin } from '../../src/composition/admin.js';
import { pageOf } from '../../src/config/page.js';
import { createPages } from '../../src/composition/pages.js';
import { observers } from '../../src/core/ports/observers.js';
import type { App } from '../../src/core/model/app.js';
import { isJsonObject, type JsonObject } from '../../src/core/model/json.js';
import type { Chains } from '../../src/core/ports/chains.js';
import type { Rig } from '../../src/core/ports/rig.js';
import type { Tool } from '../../src/core/ports/tool.js';
import { createCore, type RunningCore } from '../../src/core/create-core.js';
import type { CoreSettings } from '../../src/core/model/settings.js';
import type { Store } from '../../src/core/ports/store.js';
import type { WalletSignIn } from '../../src/core/wallet/wallet-proofs.js';
import type { RootSurface, SurfaceName } from '../../src/surfaces/index.js';
import { testApp, TEST_SETTINGS } from './core.js';
import { openStore, serveCore, type Answer, type AskOptions, type TestServer } from './http.js';
import { ScriptedRig } from './scripted-rig.js';
import { openStream, type OpenStream } from './sse.js';

/** A request for a stream. */
interface WatchOptions {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** The service over HTTP with its real log, sealer and checks; all that it answers and logs is kept. */
export interface House extends TestServer {
  readonly core: RunningCore;
  readonly store: Store;
  readonly rig: ScriptedRig;
  readonly telemetry: Telemetry;
  /** Every answer so far: status, headers and body. */
  readonly answers: readonly string[];
  /** All lines of the log so far. */
  log(): string;
  /** Opens a stream with the session's header. */
  watch(path: string, session: string, init?: WatchOptions): Promise<OpenStream>;
}

/** Serves a core over the given store, which `close` leaves to the caller that gave it, or over one of its own. */
export async function openHouse(
  options: {
    readonly apps?: readonly App[];
    readonly tools?: readonly Tool[];
    readonly rigs?: readonly Rig[];
    readonly store?: Store;
    readonly keys?: readonly Buffer[];
    readonly surfaces?: readonly SurfaceName[];
    readonly root?: RootSurface;
    readonly settings?: Partial<CoreSettings>;
    /** Who may read the metrics; absent: there are none. */
    readonly metrics?: { readonly token: string | null; readonly trustProxy?: boolean };
    /** Where traces go; absent: nowhere. */
    readonly collector?: string;
    readonly walletSignIn?: WalletSignIn;
    /** The chains of wallet requests; absent: there are none. */
    readonly chains?: Chains;
    /** Opens the operator's view. */
    readonly adminToken?: string;
  } = {},
): Promise<House> {
  const rig = new ScriptedRig();
  const store = options.store ?? (await openStore('sqlite'));
  const tools = options.tools ?? [];
  let logged = '';
  const log = createLog({ level: 'trace', destination: { write: (line) => (logged += line) } });
  const settings = { ...TEST_SETTINGS, ...options.settings };
  const apps = options.apps ?? [testApp()];
  const admin = await createAdmin(
    {
      adminToken: options.adminToken ?? null,
      apps,
      limits: settings.limits,
      maxSecretsBytes: settings.maxSecretsBytes,
    },
    { store, clock: systemClock, digests: nodeDigests, log },
  );
  const { metrics, collector } = options;
  const telemetry = await openTelemetry(
    {
      ...{ apps, rigs: [], metrics: metrics !== undefined, metricsToken: metrics?.token ?? null },
      traces:
        collector === undefined
          ? null
          : {
              url: `${collector}/v1/traces`,
              ...{ serviceName: 'house', resource: {}, root: 'all', followsParent: true },
            },
    },
    {
      ...{ store, busUp: null, clock: systemClock, log, version: '1.2.3' },
      names: { rigs: (options.rigs ?? [rig]).map(({ id }) => id), tools: tools.map(({ name }) => name) },
    },
  );
  const core = createCore({
    ...{ store: telemetry.store, bus: createMemoryBus(), log, seedPhrases },
    observer: observers([telemetry.observer, ...(admin === null ? [] : [admin.observer])]),
    rigs: options.rigs ?? [rig],
    ...{ apps, settings },
    tools: { list: () => tools },
    sealer: createSealer(options.keys ?? [randomBytes(32)]),
    ...{ schemas: createSchemas(), digests: nodeDigests, clock: systemClock },
    walletSignIn: options.walletSignIn ?? null,
    chains: options.chains ?? createChains({ chains: [] }),
  });
  const { routes: pages } = await createPages(
    {
      ...{ page: false, adminToken: null, apps, file: null, pageSettings: pageOf(null) },
      ...{ corsOrigins: null, trustProxy: metrics?.trustProxy ?? false },
    },
    { metrics: telemetry.page, admin: admin?.pages(core) ?? null, described: [] },
  );
  const server = await serveCore(core, {
    ...{ log, pages, requests: telemetry.requests },
    ...(options.surfaces && { surfaces: options.surfaces }),
    ...(options.root && { root: options.root }),
  });
  const answers: string[] = [];
  return {
    ...server,
    core,
    store,
    rig,
    telemetry,
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
      try {
        await server.close();
      } finally {
        await core.close();
        await admin?.close();
        await telemetry.close();
        if (options.store === undefined) await store.close();
      }
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
