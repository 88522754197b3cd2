import type { Server } from 'node:http';
import { findDangling } from './config/references.js';
import { refuseMistakes } from './config/mistakes.js';
import type { Config } from './config.js';
import { Closing } from './composition/closing.js';
import type { Log } from './core/ports/log.js';
import type { Rig } from './core/ports/rig.js';
import type { RunningCore } from './core/create-core.js';
import { LEASE_MS, type CoreSettings } from './core/model/settings.js';
import { connectionsWithin, readProcessLimits } from './composition/descriptor-limit.js';
import { createAdmin } from './composition/admin.js';
import { openBus, openStore } from './composition/data.js';
import { createLegacyNotices } from './composition/legacy-notices.js';
import { createRigs } from './composition/rigs.js';
import { openTelemetry } from './composition/telemetry.js';
import { createTools } from './composition/tools.js';
import { createChainAccess } from './composition/chains.js';
import { createWalletSignIn } from './composition/wallets.js';
import type { Metrics } from './adapters/telemetry/prometheus/metrics.js';
import { systemClock } from './adapters/platform/uuid/clock.js';
import type { HttpSettings } from './http/settings.js';
import { readVersion } from './version.js';

/** The assembled service. */
export interface Application {
  readonly server: Server;
  readonly core: RunningCore;
  readonly log: Log;
  readonly version: string;
  readonly rigs: readonly Rig[];
  /** Null when metrics are off. */
  readonly metrics: Metrics | null;
  /** Whether there is a page at `/`. */
  readonly hasPage: boolean;
  /**
   * Listens, then starts to process turns.
   * @returns the base URL
   * @throws the system error, such as `EADDRINUSE`
   */
  listen(): Promise<string>;
  /** Rejects new messages, lets running turns finish within `DRAIN_TIMEOUT`, ends streams and stops listening. */
  drain(): Promise<void>;
  /** Releases all resources, drained or not. Safe to call more than once. */
  close(): Promise<void>;
}

/** How long requests may continue after the drain, in milliseconds. */
const GRACE_MS = 2_000;
/** Events younger than this are kept regardless of `EVENTS_KEPT`, so that a stream can resume. In milliseconds. */
const EVENTS_MS = 30 * 60_000;
/** Retention of idempotency keys, in milliseconds. */
const DAY_MS = 86_400_000;
/** Interval of lease renewals, in milliseconds. */
const RENEW_MS = 2_000;
/**
 * How long a cached session is served without checking its revision when the store is SQLite, in milliseconds. Only CLI
 * commands write to the database besides the service.
 */
const MIRROR_MS = 1_000;

/**
 * Creates the service from its configuration, without listening.
 * @throws ConfigError when an App names an unknown rig or tool, or a tool is misconfigured
 */
export async function createApp(config: Config): Promise<Application> {
  const [
    { createLog },
    { createCore },
    { OutageLog },
    { WALLET_TOOLS },
    { createSchemas },
    { nodeDigests },
    { createSealer },
    { loadSecretsKeys },
    { seedPhrases },
    surfaces,
    http,
    { requestObservers },
    { observers },
    { createPages },
    { isLoopbackName },
  ] = await Promise.all([
    import('./adapters/telemetry/pino/log.js'),
    import('./core/create-core.js'),
    import('./core/operations/outage-log.js'),
    import('./core/wallet/wallet-tools.js'),
    import('./adapters/tools/schema/schemas.js'),
    import('./adapters/platform/node/digests.js'),
    import('./adapters/platform/node/sealer.js'),
    import('./adapters/platform/node/secrets-keys.js'),
    import('./adapters/tools/seed-phrases/seed-phrases.js'),
    import('./surfaces/index.js'),
    import('./http/server.js'),
    import('./http/observer.js'),
    import('./core/ports/observers.js'),
    import('./composition/pages.js'),
    import('./http/guards/loopback.js'),
  ]);
  const allLines = createLog({ level: config.logLevel });
  const log = new OutageLog(allLines, systemClock);
  const version = readVersion();
  const schemas = createSchemas();
  const walletSignIn = await createWalletSignIn(config);
  const [rigs, tools, chains] = await Promise.all([
    createRigs(config),
    createTools(config, { schemas, log, version }),
    createChainAccess(config),
  ]);
  const toolNames = [...tools.own.map(({ name }) => name), ...(chains.list().length > 0 ? WALLET_TOOLS : [])];
  refuseMistakes(findDangling(config, { rigs: rigs.map(({ id }) => id), tools: toolNames }));
  const closing = new Closing();
  closing.add(() => {
    log.close();
    return Promise.resolve();
  });
  closing.add(() => tools.close());
  try {
    // A lost idle connection is no outage.
    const opened = await openStore(config, { log: allLines });
    closing.add(() => opened.close());
    const { bus, isUp: busUp } = await openBus(config, log);
    closing.add(() => bus.close());
    const telemetry = await openTelemetry(config, {
      ...{ store: opened.store, busUp, clock: systemClock, log, version },
      names: { rigs: rigs.map(({ id }) => id), tools: toolNames },
    });
    closing.add(() => telemetry.close());
    const { store } = telemetry;
    const admin = await createAdmin(config, { store, clock: systemClock, digests: nodeDigests, log });
    closing.add(async () => admin?.close());
    const core = createCore({
      ...{ store, bus, rigs, tools, chains, schemas, log, seedPhrases, walletSignIn },
      observer: observers([telemetry.observer, ...(admin === null ? [] : [admin.observer])]),
      apps: config.apps,
      digests: nodeDigests,
      clock: systemClock,
      sealer: createSealer(await loadSecretsKeys(config.secretsKeys, opened.secretsKeyFile)),
      settings: coreSettings(config),
    });
    closing.add(() => core.close());
    const notices = await createLegacyNotices(config, { store, core, clock: systemClock, log, version });
    closing.add(async () => notices?.close());
    const isLocal = isLoopbackName(config.host);
    const httpSettings: HttpSettings = {
      corsOrigins: config.corsOrigins ?? (isLocal ? 'loopback' : '*'),
      isLocal,
      maxConnections: connectionsWithin(readProcessLimits()),
      rateLimit: config.rateLimit,
      streamLimit: config.streamLimit,
      trustProxy: typeof config.trustProxy === 'object' ? config.trustProxy.join(',') : config.trustProxy,
      keepAliveMs: config.sseKeepaliveMs,
      version,
    };
    const requests = requestObservers(telemetry.requests);
    const described = surfaces.listDescriptions({
      ...{ version, surfaces: config.surfaces, root: config.rootSurface },
    });
    const pages = await createPages(config, {
      ...{ metrics: telemetry.page, admin: admin?.pages(core) ?? null, described },
    });
    const routed = surfaces.createRouter({
      ...{ core, surfaces: config.surfaces, http: httpSettings, observer: requests, pages: pages.routes },
      legacy: config.legacy,
      root: config.rootSurface,
      field: { keyHeaders: config.appKeyHeaders },
    });
    const httpServer = http.createHttpServer({ ...routed, log, http: httpSettings, observer: requests });
    const { server } = httpServer;
    closing.add(async () => {
      if (server.listening) await httpServer.close(GRACE_MS);
    });
    return {
      server,
      core,
      // The last words of a process are about more than the outage in which it may end.
      log: allLines,
      version,
      rigs,
      metrics: telemetry.metrics,
      hasPage: pages.hasPage,
      async listen() {
        // Binds the port first: a second instance on the same port must fail before it claims turns.
        const url = await listenOn(server, config.host, config.port);
        await core.start();
        tools.start();
        notices?.start();
        admin?.start();
        return url;
      },
      async drain() {
        // During the drain, the server still serves state, interrupts and a health check with status 503.
        httpServer.drain();
        await core.drain(config.drainTimeoutMs);
        await httpServer.close(GRACE_MS);
      },
      close: () => closing.close(),
    };
  } catch (error) {
    await closing.close().catch((reason: unknown) => {
      log.error({ err: reason }, 'failed to close');
    });
    throw error;
  }
}

function coreSettings(config: Config): CoreSettings {
  const { maxMessageBytes, maxSessionBytes, maxSecretsBytes } = config;
  const { maxQueued, maxSteps, turnTimeoutMs, toolTimeoutMs, busyStrategy } = config;
  return {
    limits: config.limits,
    ...{
      maxMessageBytes,
      maxSessionBytes,
      maxSecretsBytes,
      maxQueued,
      maxSteps,
      turnTimeoutMs,
      toolTimeoutMs,
      busyStrategy,
    },
    eventsKept: config.eventsKept,
    eventsKeptMs: EVENTS_MS,
    idempotencyMs: DAY_MS,
    walletRequestMs: config.walletRequestMs,
    walletConfirmMs: config.walletConfirmMs,
    retentionMs: config.retentionMs,
    leaseMs: LEASE_MS,
    renewMs: RENEW_MS,
    mirrorMs: config.database.kind === 'postgres' ? 0 : MIRROR_MS,
  };
}

async function listenOn(server: Server, host: string, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const name = host.includes(':') ? `[${host.replace('%', '%25')}]` : host;
  return `http://${name}:${String(address.port)}`;
}
