import { randomUUID } from 'node:crypto';
import type { JsonObject, JsonValue } from '../../src/core/model/json.js';
import type { WalletPolicy } from '../../src/core/model/wallet-request.js';
import type { ChainTransaction } from '../../src/core/ports/chains.js';
import type { Clock } from '../../src/core/ports/clock.js';
import type { Store } from '../../src/core/ports/store.js';
import type { CoreSettings } from '../../src/core/model/settings.js';
import { created, testApp, testCore, type TestCore } from './core.js';
import { ScriptedChains } from './scripted-chains.js';
import { ScriptedRig } from './scripted-rig.js';

export const WALLET = `0x${'b'.repeat(40)}`;
export const SHOP = `0x${'a'.repeat(40)}`;
export const HASH = `0x${'1'.repeat(64)}`;
export const NO_LIMITS: WalletPolicy = {
  chains: null,
  recipients: null,
  maxValue: null,
  maxDailyValue: null,
};

export interface WalletCore extends TestCore {
  readonly id: string;
  readonly rig: ScriptedRig;
  readonly chains: ScriptedChains;
  /** Calls a tool for the session; the result, or the words of its failure. */
  readonly call: (
    name: string,
    args: JsonObject,
    options?: { app?: string; session?: string },
  ) => Promise<JsonValue>;
  /** Stages a transaction, by default of 1 wei to the shop. Returns its id. */
  readonly stage: (args?: JsonObject) => Promise<number>;
  /** Stages transactions and asks the wallet to sign them. Returns their ids. */
  readonly request: (...orders: readonly JsonObject[]) => Promise<readonly number[]>;
  /** Reports an outcome as a client does. */
  readonly report: (type: string, payload: JsonObject) => ReturnType<TestCore['core']['report']>;
}

/** A core with a session whose wallet is connected, and Apps `default`, `other` and `none`, the last without wallets. */
export async function walletCore(
  options: {
    policy?: Partial<WalletPolicy>;
    settings?: Partial<CoreSettings>;
    clock?: Clock;
    store?: Store;
    chains?: ScriptedChains;
    id?: string;
    rig?: ScriptedRig;
  } = {},
): Promise<WalletCore> {
  const { policy, settings, clock, store, id = randomUUID(), rig = new ScriptedRig() } = options;
  const chains = options.chains ?? new ScriptedChains();
  const wallet = { ...NO_LIMITS, ...policy };
  const made = testCore({
    ...{ rigs: [rig], chains },
    apps: [testApp({ wallet }), testApp({ name: 'none' })],
    ...(settings && { settings }),
    ...(clock && { clock }),
    ...(store && { store }),
  });
  await made.core.createSession({ sessionId: id, wallet: WALLET });
  const call: WalletCore['call'] = async (name, args, { app, session = id } = {}) => {
    const outcome = await made.core.invokeTool({
      ...{ session: created(session), name, args, app },
      ...{ key: undefined, clientId: undefined, signal: new AbortController().signal },
    });
    return 'error' in outcome ? outcome.error : outcome.result;
  };
  const stage: WalletCore['stage'] = async (args = {}) =>
    Number(field(await call('stage_transaction', { to: SHOP, value: '1 wei', ...args }), 'id'));
  return {
    ...made,
    ...{ id, rig, chains, call, stage },
    async request(...orders) {
      const ids: number[] = [];
      for (const order of orders.length === 0 ? [{}] : orders) ids.push(await stage(order));
      await call('request_transactions', { ids });
      return ids;
    },
    report: (type, payload) => made.core.report(created(id), JSON.stringify({ type, payload })),
  };
}

/** A field of a tool's result. */
export function field(result: JsonValue, name: string): JsonValue | undefined {
  if (typeof result !== 'object' || result === null || Array.isArray(result))
    throw new Error(`the tool failed: ${JSON.stringify(result)}`);
  return Object.entries(result).find(([key]) => key === name)?.[1];
}

/** A mined transaction of 1 wei from the wallet to the shop. */
export function mined(fields: Partial<ChainTransaction> = {}): ChainTransaction {
  return {
    ...{ from: WALLET, to: SHOP, value: '1', data: '0x', nonce: 5, delegates: false },
    receipt: { succeeded: true, blockNumber: '123', gasUsed: '21000' },
    ...fields,
  };
}
