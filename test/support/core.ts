import { randomBytes } from 'node:crypto';
import { createSchemas } from '../../src/adapters/tools/schema/schemas.js';
import { createMemoryBus } from '../../src/adapters/bus/memory/bus.js';
import { FakeClock } from './fake-clock.js';
import { createMemoryStore } from './memory-store/store.js';
import { ScriptedChains } from './scripted-chains.js';
import { createSealer } from '../../src/adapters/platform/node/sealer.js';
import { nodeDigests } from '../../src/adapters/platform/node/digests.js';
import { systemClock } from '../../src/adapters/platform/uuid/clock.js';
import { DEFAULT_APP, type App } from '../../src/core/model/app.js';
import type { Feed } from '../../src/core/model/feed.js';
import type { SendRequest } from '../../src/core/model/send-request.js';
import type { SessionRef } from '../../src/core/model/session.js';
import type { Observer } from '../../src/core/ports/observer.js';
import type { Bus } from '../../src/core/ports/bus.js';
import type { Chains } from '../../src/core/ports/chains.js';
import type { Clock } from '../../src/core/ports/clock.js';
import type { Log } from '../../src/core/ports/log.js';
import type { Rig } from '../../src/core/ports/rig.js';
import type { Tool } from '../../src/core/ports/tool.js';
import { NO_LIMITS } from '../../src/core/model/quota.js';
import { createCore, type RunningCore } from '../../src/core/create-core.js';
import type { CoreSettings } from '../../src/core/model/settings.js';
import type { Snapshot } from '../../src/core/model/snapshot.js';
import type { Store } from '../../src/core/ports/store.js';
import type { WalletSignIn } from '../../src/core/wallet/wallet-proofs.js';

export const TEST_SETTINGS: CoreSettings = {
  maxMessageBytes: 65_536,
  maxSessionBytes: 33_554_432,
  maxSecretsBytes: 67_108_864,
  maxQueued: 50,
  maxSteps: 16,
  turnTimeoutMs: 60_000,
  toolTimeoutMs: 60_000,
  busyStrategy: 'enqueue',
  limits: { session: NO_LIMITS, key: NO_LIMITS },
  eventsKept: 1000,
  eventsKeptMs: 1_800_000,
  idempotencyMs: 86_400_000,
  walletRequestMs: 86_400_000,
  walletConfirmMs: 30_000,
  retentionMs: null,
  leaseMs: 6_000,
  renewMs: 2_000,
  mirrorMs: 1_000,
};

/** An App with nothing set but its name. */
export function testApp(fields: Partial<App> = {}): App {
  return {
    name: DEFAULT_APP,
    instructions: 'Help.',
    rigs: null,
    tools: null,
    toolServers: [],
    secrets: [],
    busyStrategy: null,
    prompts: null,
    wallet: null,
    ...fields,
  };
}

/** A log that keeps its lines. */
export function keptLog(): Log & { readonly lines: string[]; readonly fields: readonly object[] } {
  const lines: string[] = [];
  const all: object[] = [];
  const keep = (fields: object, message: string): void => {
    all.push(fields);
    lines.push(
      `${message} ${JSON.stringify(fields, (_, value: unknown) => (value instanceof Error ? value.message : value))}`,
    );
  };
  return { lines, fields: all, info: keep, warn: keep, error: keep };
}

export interface TestCore {
  readonly core: RunningCore;
  readonly store: Store;
  readonly bus: Bus;
  readonly log: ReturnType<typeof keptLog>;
}

const opened: (() => Promise<void>)[] = [];

/** Closes every core that `testCore` made: for `afterEach`. */
export async function closeTestCores(): Promise<void> {
  await Promise.all(opened.splice(0).map((close) => close()));
}

/** A core over the memory store, not started: no timers run unless the test starts it. */
export function testCore(options: {
  rigs: readonly Rig[];
  apps?: readonly App[];
  tools?: readonly Tool[];
  settings?: Partial<CoreSettings>;
  store?: Store;
  bus?: Bus;
  clock?: Clock;
  observer?: Observer;
  walletSignIn?: WalletSignIn;
  /** Absent: no chain is configured. */
  chains?: Chains;
}): TestCore {
  const store = options.store ?? createMemoryStore();
  const bus = options.bus ?? createMemoryBus();
  const log = keptLog();
  const tools = options.tools ?? [];
  const core = createCore({
    ...{
      store,
      bus,
      log,
      rigs: options.rigs,
      apps: options.apps ?? [testApp()],
      tools: { list: () => tools },
    },
    ...{ seedPhrases: { startSearch: () => () => false }, sealer: createSealer([randomBytes(32)]) },
    ...{ schemas: createSchemas(), digests: nodeDigests, clock: options.clock ?? systemClock },
    walletSignIn: options.walletSignIn ?? null,
    chains: options.chains ?? new ScriptedChains([]),
    settings: { ...TEST_SETTINGS, ...options.settings },
    ...(options.observer && { observer: options.observer }),
  });
  const { clock } = options;
  opened.push(() => (clock instanceof FakeClock ? clock.passUntil(core.close()) : core.close()));
  return { core, store, bus, log };
}

export function created(id: string): SessionRef {
  return { id, ifUnknown: 'create' };
}

/** A message to the default App. */
export function message(id: string, text: string, fields: Partial<SendRequest> = {}): SendRequest {
  return { session: created(id), text, app: DEFAULT_APP, key: undefined, ...fields };
}

/** A snapshot as lines: who said what; `~` marks text in flight. */
export function spoken({ settled, settledCount, open }: Snapshot): string[] {
  const lines = (records: Snapshot['settled']): string[] =>
    records.flatMap(({ role, content, toolResults }) => [
      ...(content === '' ? [] : [`${role}: ${content}`]),
      ...(toolResults ?? []).map(({ name, result }) => `${name} = ${JSON.stringify(result)}`),
    ]);
  return [
    ...lines(settled.slice(0, settledCount)),
    ...open.flatMap(({ messages, streaming }) => [
      ...lines(messages),
      ...(streaming === null ? [] : [`assistant~ ${streaming.text}`]),
    ]),
  ];
}

/** Everything of a feed that ends by itself. */
export async function collect<T>(feed: Feed<T>): Promise<T[]> {
  const items: T[] = [];
  await feed.each((item) => {
    items.push(item);
    return undefined;
  });
  return items;
}

/** Reads from a feed until `isLast` holds. */
export async function collectUntil<T>(feed: Feed<T>, isLast: (item: T) => boolean): Promise<T[]> {
  const items: T[] = [];
  await feed.each((item) => {
    items.push(item);
    if (isLast(item)) feed.close();
    return undefined;
  });
  return items;
}
