import { linkSignals } from './abort.js';
import type { App } from './app.js';
import { createAccess } from './apps.js';
import { Chat } from './chat.js';
import { Control } from './control.js';
import type { Core, Sent } from './core.js';
import { FaultDeliveries } from './fault-deliveries.js';
import { Interrupts } from './interrupts.js';
import { Health } from './health.js';
import { Housekeeping } from './housekeeping.js';
import { Leases } from './leases.js';
import { UNOBSERVED, type Observer } from './observer.js';
import { OpenCalls } from './open-calls.js';
import type { Parts } from './parts.js';
import type { Bus, Clock, Digests, Log, Rig, Schemas, SeedPhrases, ToolSource } from './ports.js';
import { RequestLimits } from './request-limits.js';
import { describeRig, Rigs } from './rig-choice.js';
import { missingKeys } from './rotation.js';
import { Runner } from './runner.js';
import type { Sealer } from './secret-store.js';
import { Secrets } from './secrets.js';
import { Sessions } from './sessions.js';
import type { CoreSettings } from './settings.js';
import { Snapshots } from './snapshots.js';
import type { Store } from './store.js';
import { Streams } from './streams.js';
import { Threads } from './threads.js';
import { Titles } from './titles.js';
import { ToolCalls } from './tool-calls.js';
import { ToolInvocations } from './tool-invocations.js';
import { Toolbox } from './toolbox.js';
import { TurnSteps } from './turn-steps.js';
import { TurnWriter } from './turn-writer.js';
import { Usage } from './usage.js';
import type { UsageReport } from './usage-report.js';
import { WalletProofs, type WalletSignIn } from './wallet-proofs.js';

/** What the core is made of: its ports, and what the configuration says. */
export interface CorePorts {
  readonly store: Store;
  readonly bus: Bus;
  /** The first is the default of an App that names none. */
  readonly rigs: readonly Rig[];
  /** `default` is among them. */
  readonly apps: readonly App[];
  readonly tools: ToolSource;
  readonly seedPhrases: SeedPhrases;
  /** Null: a wallet is taken at its word. */
  readonly walletSignIn: WalletSignIn | null;
  readonly sealer: Sealer;
  readonly schemas: Schemas;
  readonly digests: Digests;
  readonly clock: Clock;
  readonly log: Log;
  /** Absent: nobody is told. */
  readonly observer?: Observer;
  readonly settings: CoreSettings;
}

/** The core with its life: begun, drained, closed. */
export interface CoreService extends Core {
  /** Who used the legacy surface in the last so many days, and whether it may be switched off. */
  usageReport(asked: { days: number }): Promise<UsageReport>;
  /** To be told when this process has changed an App key: it then holds here at once, and elsewhere within seconds. */
  keysChanged(): void;
  /** Takes over what was left unfinished, and begins to keep leases. */
  start(): Promise<void>;
  /**
   * Takes no more messages, lets running turns end for so long, gives the rest back so that they go on after the restart, and
   * ends all streams last.
   */
  drain(timeoutMs: number): Promise<void>;
  /** Stops everything else. The store and the bus are closed by whoever opened them. */
  close(): Promise<void>;
}

/** Puts the core together. */
export function createCore(ports: CorePorts): CoreService {
  const { store, bus, clock, log, settings, digests, observer = UNOBSERVED } = ports;
  const access = createAccess({
    apps: ports.apps,
    findKey: (digest) => store.findKey(digest),
    digests,
    clock,
  });
  const secrets = new Secrets({
    ...{ secretStore: store, sealer: ports.sealer, digests, access, clock, log },
    maxAppBytes: settings.maxSecretsBytes,
  });
  const parts: Parts = {
    ...{ store, bus, clock, log, observer, settings, access, secrets },
    apps: new Map(ports.apps.map((app) => [app.name, app])),
    rigs: new Rigs(ports.rigs),
    toolbox: new Toolbox(ports.tools, ports.schemas, settings, log),
    threads: new Threads(store, clock, settings.mirrorMs),
    walletProofs: new WalletProofs({
      ...{ digests, clock, sealer: ports.sealer, signIn: ports.walletSignIn },
      countRequest: (quotas) => store.countRequest(quotas),
    }),
  };
  const writer = new TurnWriter(parts);
  const steps = new TurnSteps(parts, writer, new ToolCalls(parts, writer));
  const titles = new Titles(parts);
  const runner = new Runner(parts, steps, titles, clock.newId());
  const sessions = new Sessions(parts, runner);
  const faults = new FaultDeliveries(parts, runner.lease, settings.renewMs);
  const snapshots = new Snapshots(parts.threads, runner, faults);
  const chat = new Chat(parts, digests, runner);
  const interrupts = new Interrupts(parts, runner);
  const streams = new Streams(parts, runner);
  const control = new Control(parts, sessions);
  const openCalls = new OpenCalls(parts, runner.lease.owner);
  const invocations = new ToolInvocations(parts, sessions, openCalls, ports.seedPhrases);
  const leases = new Leases(parts, runner);
  const housekeeping = new Housekeeping(parts);
  const requestLimits = new RequestLimits(settings.limits, clock);
  const health = new Health(store, clock, log);
  const draining = new AbortController();
  const usage = new Usage({ store, clock, digests, log });

  return {
    createSession: (request) => sessions.create(request),
    getSession: (id) => sessions.get(id),
    touch: (ref) => sessions.touch(ref),
    getThreads: (id, walletProof) => sessions.threadsOf(id, walletProof),
    listThreads: (request) => sessions.list(request),
    renameSession: (id, title) => sessions.rename(id, title),
    deleteSession: (id) => sessions.delete(id),
    readMessages: (id, page) => sessions.readMessages(id, page),

    send: (request) => chat.send(request),
    turnEnded: (sent, signal) =>
      untilEnded(streams, sent, [signal, draining.signal]).catch((error: unknown) => {
        // The message is stored: whoever waits gets the state as it is.
        log.warn({ err: error }, 'the end of a turn could not be waited for');
        return 'over' as const;
      }),
    snapshot: (ref, { userState, leavesFaults = false, tail } = {}) =>
      userState === undefined
        ? snapshots.of(ref, { leavesFaults, tail })
        : sessions.mergeState(ref, userState).then(() => snapshots.of(ref, { leavesFaults, tail })),
    interrupt: (ref) => interrupts.interrupt(ref),

    updates: (ref, options) => streams.updates(ref, options),
    watchTurn: (sent) => streams.watchTurn(sent),
    async systemEvents(ref, count) {
      const thread = await parts.threads.open(ref);
      return thread.stored ? store.readSystemEvents(thread.id, count) : [];
    },

    listApps: (key, options) => parts.access.listAuthorized(key, options),
    allRigs: () => parts.rigs.all.map(describeRig),
    listRigs: (request) => control.listRigs(request),
    selectRig: (request) => control.selectRig(request),

    listTools: (app, key) => invocations.list(app, key),
    invokeTool: (request) => invocations.invoke(request),
    async storeSecrets({ session, ...request }) {
      const handles = await secrets.store(request);
      if (session !== undefined) await sessions.bindClient(session, secrets.clientOf(request.clientId));
      return handles;
    },
    bindClient: (session, clientId) => sessions.bindClient(session, secrets.clientOf(clientId)),
    listSecrets: (clientId) => secrets.names(clientId),
    deleteSecrets: (clientId, which) => secrets.delete(clientId, which),

    walletChallenge: () => parts.walletProofs.challenge(),
    proveWallet: (request) => parts.walletProofs.prove(request),

    countsRequests: requestLimits.isNeeded,
    async admit({ sessionId, key }) {
      requestLimits.count({ sessionId: sessionId ?? null, keyId: await access.keyId(key) });
    },

    usageCounter: (surface, endpoint) => usage.counter(surface, endpoint),
    keysChanged: () => {
      access.forgetKeys();
    },
    usageReport: (asked) => usage.report(asked),

    health: async () => ({ status: draining.signal.aborted ? 'draining' : await health.status() }),

    async start() {
      streams.start();
      await Promise.all([leases.start(), openCalls.start(), warnOfMissingKeys(ports)]);
      housekeeping.start();
      usage.start();
    },
    async drain(timeoutMs) {
      draining.abort(new Error('The service drains'));
      await runner.drain(timeoutMs);
      invocations.close();
      leases.stop();
      openCalls.stop();
      streams.close();
      await usage.flush();
    },
    async close() {
      draining.abort(new Error('The service closes'));
      leases.stop();
      openCalls.stop();
      faults.close();
      invocations.close();
      await housekeeping.close();
      await titles.close();
      await usage.close();
      await runner.drain(0);
      streams.close();
    },
  };
}

/** Never rejects. */
async function warnOfMissingKeys({ store, sealer, log }: CorePorts): Promise<void> {
  try {
    const keys = await missingKeys(store, sealer);
    if (keys.length > 0) log.warn({ keys }, 'stored secrets need keys that are not configured');
  } catch (error) {
    log.warn({ err: error }, 'the keys of stored secrets could not be looked at');
  }
}

/** Resolves when the turn has ended, its session was deleted, or one of the signals aborts. */
async function untilEnded(
  streams: Streams,
  sent: Sent,
  signals: readonly AbortSignal[],
): Promise<'deleted' | 'over'> {
  const feed = await streams.watchTurn(sent);
  const { signal, release } = linkSignals(...signals);
  const stop = (): void => {
    feed.close();
  };
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  let end: 'deleted' | 'over' = 'over';
  await feed.each((update) => {
    if (update.type === 'turn_ended') feed.close();
    if (update.type === 'cut' && update.reason === 'deleted') end = 'deleted';
    return undefined;
  });
  release();
  return end;
}
