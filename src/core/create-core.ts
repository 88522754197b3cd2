import { linkSignals } from './model/abort.js';
import type { App } from './model/app.js';
import { createAccess } from './access/app-access.js';
import { AcceptedTurns } from './turns/accepted-turns.js';
import { MessageIntake } from './turns/accept-message.js';
import { RigSelection } from './sessions/rig-selection.js';
import type { Core } from './api.js';
import type { Sent } from './model/send-request.js';
import { SystemErrorDelivery } from './sessions/system-error-delivery.js';
import { Interrupts } from './turns/interrupts.js';
import { Health } from './operations/health.js';
import { Retention } from './sessions/retention.js';
import { Leases } from './turns/leases.js';
import { UNOBSERVED, type Observer } from './ports/observer.js';
import type { Bus } from './ports/bus.js';
import type { Chains } from './ports/chains.js';
import type { Clock } from './ports/clock.js';
import type { Digests } from './ports/digests.js';
import type { Log } from './ports/log.js';
import type { Rig } from './ports/rig.js';
import type { Schemas } from './ports/tool.js';
import type { SeedPhrases } from './ports/tool.js';
import type { ToolSource } from './ports/tool.js';
import { RequestLimits } from './access/request-limits.js';
import { OpenCalls } from './tools/open-calls.js';
import { describeRig, RigRegistry } from './rigs/rig-registry.js';
import { missingKeys } from './access/secret-rotation.js';
import { Runner } from './turns/runner.js';
import type { Sealer } from './ports/secret-store.js';
import { ProviderKeys } from './access/provider-keys.js';
import { Secrets } from './access/secrets.js';
import { Branches } from './sessions/branches.js';
import { ClientValues } from './sessions/client-values.js';
import { Sessions } from './sessions/sessions.js';
import type { CoreSettings } from './model/settings.js';
import { Snapshots } from './sessions/snapshots.js';
import type { Store } from './ports/store.js';
import { Streams } from './streams/streams.js';
import { SessionCache } from './sessions/session-cache.js';
import { Titles } from './turns/titles.js';
import { ToolCalls } from './turns/tool-calls.js';
import { DirectCalls } from './tools/direct-calls.js';
import { ToolRunner } from './tools/tool-runner.js';
import { TurnLoop } from './turns/turn-loop.js';
import { TurnWriter } from './turns/turn-writer.js';
import { Usage } from './operations/usage.js';
import type { UsageReport } from './operations/usage-report.js';
import { OutcomeVerification } from './wallet/outcome-verification.js';
import { Simulations } from './wallet/simulations.js';
import { WalletOutcomes } from './turns/wallet-outcomes.js';
import { WalletProofs, type WalletSignIn } from './wallet/wallet-proofs.js';
import { WalletReports } from './wallet/wallet-reports.js';
import { createWalletTools, withWalletTools } from './wallet/wallet-tools.js';

/** The ports and the configuration of the core. */
export interface CorePorts {
  readonly store: Store;
  readonly bus: Bus;
  /** The first one is the default for Apps that name none. */
  readonly rigs: readonly Rig[];
  /** Must include `default`. */
  readonly apps: readonly App[];
  readonly tools: ToolSource;
  /** The chains of wallet requests. Without any, no wallet is asked. */
  readonly chains: Chains;
  readonly seedPhrases: SeedPhrases;
  /** Null: clients may claim any wallet without a proof. */
  readonly walletSignIn: WalletSignIn | null;
  readonly sealer: Sealer;
  readonly schemas: Schemas;
  readonly digests: Digests;
  readonly clock: Clock;
  readonly log: Log;
  /** Absent: nothing is observed. */
  readonly observer?: Observer;
  readonly settings: CoreSettings;
}

/** The core and its lifecycle. */
export interface RunningCore extends Core {
  /** Reports who used the legacy surface in the last `days` days, and whether it may be switched off. */
  usageReport(asked: { days: number }): Promise<UsageReport>;
  /**
   * Call after this process has changed an App key: the change takes effect here at once, and in other processes within
   * seconds.
   */
  keysChanged(): void;
  /** Recovers abandoned turns and tool calls, then starts the periodic tasks. */
  start(): Promise<void>;
  /**
   * Stops accepting messages, waits up to `timeoutMs` for running turns, releases the rest for recovery by another
   * process, and then ends all streams.
   */
  drain(timeoutMs: number): Promise<void>;
  /** Stops everything else. Does not close the store and the bus: their owner does. */
  close(): Promise<void>;
}

export function createCore(ports: CorePorts): RunningCore {
  const { store, bus, chains, clock, log, settings, digests, observer = UNOBSERVED } = ports;
  const access = createAccess({
    apps: ports.apps,
    findKey: (digest) => store.findKey(digest),
    digests,
    clock,
  });
  const sealed = { secretStore: store, sealer: ports.sealer, maxAppBytes: settings.maxSecretsBytes };
  const secrets = new Secrets({ ...sealed, digests, access, clock, log });
  const providerKeys = new ProviderKeys({ ...sealed, digests, clock, log });
  const threads = new SessionCache(store, clock, settings.mirrorMs);
  const rigs = new RigRegistry(ports.rigs);
  const walletProofs = new WalletProofs({
    ...{ digests, clock, sealer: ports.sealer, signIn: ports.walletSignIn },
    countRequest: (quotas) => store.countRequest(quotas),
  });
  const apps = new Map(ports.apps.map((app) => [app.name, app]));
  const verification = new OutcomeVerification({ store, chains, clock, log, settings });
  const walletParts = { store, bus, clock, threads, chains, apps, settings, walletProofs };
  const walletTools = createWalletTools(walletParts, verification);
  const tools = withWalletTools(ports.tools, walletTools);
  const parts = {
    ...{
      store,
      bus,
      clock,
      log,
      observer,
      settings,
      access,
      secrets,
      providerKeys,
      threads,
      rigs,
      apps,
      chains,
    },
    toolRunner: new ToolRunner(tools, ports.schemas, settings, clock, log),
    walletOwners: walletProofs,
  };
  const writer = new TurnWriter(parts);
  const outcomes = new WalletOutcomes(clock, verification, writer);
  const steps = new TurnLoop(parts, writer, new ToolCalls(parts, writer), outcomes);
  const titles = new Titles(parts);
  const runner = new Runner(parts, steps, titles, clock.newId());
  const sessions = new Sessions(parts, (id) => runner.inSession(id));
  const branches = new Branches(parts, digests, sessions);
  const clientValues = new ClientValues(parts, sessions);
  const faults = new SystemErrorDelivery(parts, runner.lease, settings.renewMs);
  const snapshots = new Snapshots(threads, runner, faults);
  const accepted = new AcceptedTurns(parts, runner);
  const chat = new MessageIntake(parts, digests, accepted);
  const walletReports = new WalletReports(parts, sessions, accepted);
  const simulations = new Simulations(parts);
  const interrupts = new Interrupts(parts, runner);
  const streams = new Streams(parts, runner);
  const control = new RigSelection(parts, sessions);
  const openCalls = new OpenCalls(parts, runner.lease.owner);
  const invocations = new DirectCalls(parts, sessions, openCalls, {
    seedPhrases: ports.seedPhrases,
    schemas: ports.schemas,
  });
  const leases = new Leases(parts, runner);
  const housekeeping = new Retention(parts);
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
    archiveSession: (id, archived) => sessions.archive(id, archived),
    deleteSession: (id) => sessions.delete(id),
    branchSession: (request) => branches.branch(request),
    readMessages: (id, page) => sessions.readMessages(id, page),
    readTurns: (id, messages) => sessions.readTurns(id, messages),

    send: (request) => chat.send(request),
    turnEnded: (sent, signal) =>
      untilEnded(streams, sent, [signal, draining.signal]).catch((error: unknown) => {
        // The message is stored: the caller can still respond with the current state.
        log.warn({ err: error }, 'failed to wait for the end of a turn');
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
      const thread = await threads.open(ref);
      return thread.stored ? store.readSystemEvents(thread.id, count) : [];
    },

    listApps: (key, options) => access.listAuthorized(key, options),
    allRigs: () => rigs.all.map(describeRig),
    listRigs: (request) => control.listRigs(request),
    selectRig: (request) => control.selectRig(request),

    listTools: (app, key) => invocations.list(app, key),
    invokeTool: (request) => invocations.invoke(request),
    storeSecrets: (request) => clientValues.storeSecrets(request),
    bindClient: (session, clientId) => clientValues.bind(session, clientId),
    listSecrets: (owner) => clientValues.listSecrets(owner),
    deleteSecrets: (clientId, which) => clientValues.deleteSecrets(clientId, which),
    listProviderKeys: (owner) => clientValues.listKeys(owner),
    storeProviderKey: (owner, key) => clientValues.storeKey(owner, key),
    deleteProviderKey: (owner, provider) => clientValues.deleteKey(owner, provider),

    walletChallenge: () => walletProofs.challenge(),
    proveWallet: (request) => walletProofs.prove(request),
    report: (ref, message, clientId) => walletReports.report(ref, message, clientId),
    simulate: (request) => simulations.run(request),

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
      draining.abort(new Error('The service is draining'));
      await runner.drain(timeoutMs);
      await invocations.close();
      leases.stop();
      openCalls.stop();
      streams.close();
      await usage.flush();
    },
    async close() {
      draining.abort(new Error('The service is closing'));
      leases.stop();
      openCalls.stop();
      faults.close();
      await invocations.close();
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
    log.warn({ err: error }, 'failed to check the keys of stored secrets');
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
