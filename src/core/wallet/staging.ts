import type { App } from '../model/app.js';
import { parseWei } from '../model/amount.js';
import type { JsonObject } from '../model/json.js';
import type { CoreSettings } from '../model/settings.js';
import {
  isLookedFor,
  WALLET_BOUNDS,
  type TransactionPayload,
  type WalletRequest,
} from '../model/wallet-request.js';
import type { ChainInfo, Chains, SimulatedCall, Simulation } from '../ports/chains.js';
import type { Clock } from '../ports/clock.js';
import type { ToolContext } from '../ports/tool.js';
import type { NewWalletRequest, WalletStore } from '../ports/wallet-store.js';
import { hasFailed, requiredBefore } from './request-order.js';
import { requesterOf, type Requester } from './requester.js';
import {
  chooseChain,
  resolveOrder,
  shortHex,
  shownTransaction,
  type TransactionOrder,
} from './transaction-order.js';
import { dailyLimit, overDaily, startOfDay, transactionProblem } from './wallet-policy.js';

/** The most transactions that one simulation covers: those that come first, and the new one. */
const MAX_BATCH = 16;

/** The dependencies of `Staging`. */
export interface StagingParts {
  readonly store: WalletStore;
  readonly chains: Chains;
  readonly clock: Clock;
  readonly apps: ReadonlyMap<string, App>;
  readonly settings: Pick<CoreSettings, 'walletRequestMs'>;
}

/** Prepares transactions: checks them against the App's limits, simulates them, and stores them. */
export class Staging {
  constructor(private readonly parts: StagingParts) {}

  /**
   * Stages a transaction. A repeated call stages nothing new. One whose simulation fails is stored, too, so that it is
   * recorded, but cannot be requested.
   * @returns what would happen, for the assistant
   * @throws Error in words for the assistant
   */
  async stage(order: TransactionOrder, context: ToolContext): Promise<JsonObject> {
    const { chains, apps } = this.parts;
    const { signal, sessionId } = context;
    const requester = requesterOf(apps, context);
    const { policy, wallet } = requester;
    const { userState } = context;
    const chain = chooseChain(chains.list(), order.chainId, { policy, userState });
    const transaction = await resolveOrder(order, chain, chains, signal);
    const problem = transactionProblem(policy, chain, transaction);
    if (problem !== undefined) throw new Error(problem);
    await this.#checkDay(requester, chain, transaction.value);
    const earlier = await this.#before(sessionId, order.after, { ...requester, chainId: chain.id });
    const { to, value, data, label } = transaction;
    const call = { to, value: String(value), data };
    const calls = [...earlier.map(callOf), call];
    const [simulation, nonce, gas] = await Promise.all([
      chains.simulate(chain.id, wallet, calls, signal),
      chains.nonceOf(chain.id, wallet, signal),
      // A node estimates on top of the latest block alone. It refuses a call that fails; the simulation says why.
      earlier.length > 0 ? null : chains.estimateGas(chain.id, wallet, call, signal).catch(() => null),
    ]);
    const step = simulation.steps.at(-1);
    if (step === undefined || simulation.steps.length !== calls.length)
      throw new Error(`The simulation on ${chain.name} gave no result: try again`);
    const payload: TransactionPayload = {
      ...{ kind: 'transaction', ...call },
      ...{ gas: gas ?? withMargin(step.gasUsed), nonce, after: order.after },
    };
    const staged = await this.store({
      ...{ sessionId, callId: context.callId, app: requester.app, wallet, chainId: chain.id },
      ...{ label, payload },
      isSound: simulation.steps.every(({ success }) => success),
    });
    return shownStaging(staged, { chain, simulation, earlier });
  }

  /**
   * Stores a request as staged.
   * @throws Error in words for the assistant when a bound is reached
   */
  async store(request: Omit<NewWalletRequest, 'stagedAt' | 'expiresAt'>): Promise<WalletRequest> {
    const { store, clock, settings } = this.parts;
    const stagedAt = clock.now();
    const expiresAt = stagedAt + settings.walletRequestMs;
    const staged = await store.stageWalletRequest({ ...request, stagedAt, expiresAt });
    if (staged.kind === 'missing') throw new Error('The session was deleted');
    if (staged.kind === 'full') {
      const kibibytes = String(WALLET_BOUNDS.payloadBytes / 1_024);
      throw new Error(
        `A request has at most ${kibibytes} KiB, and a session at most ${String(WALLET_BOUNDS.open)} open requests`,
      );
    }
    return staged.request;
  }

  async #checkDay({ app, policy, wallet }: Requester, chain: ChainInfo, value: bigint): Promise<void> {
    const limit = dailyLimit(policy, chain);
    if (limit === undefined || value === 0n) return;
    const { store, clock } = this.parts;
    const since = startOfDay(clock.now());
    const used = parseWei(await store.walletValueSince({ app, wallet, chainId: chain.id, since })) ?? limit;
    if (used + value > limit) throw new Error(overDaily(policy, chain, used));
  }

  /**
   * Returns the transactions that come first and are not on the chain yet, with those that they depend on, in order.
   */
  async #before(
    sessionId: string,
    after: readonly number[],
    common: Pick<WalletRequest, 'app' | 'wallet' | 'chainId'>,
  ): Promise<readonly (WalletRequest & { readonly payload: TransactionPayload })[]> {
    const { store, clock } = this.parts;
    const found = new Map<number, WalletRequest & { readonly payload: TransactionPayload }>();
    for (let ids: readonly number[] = after; ids.length > 0;) {
      const read = await store.readWalletRequests(sessionId, { ids });
      for (const id of ids) {
        const earlier = read.find((request) => request.id === id);
        if (earlier?.state !== 'confirmed') found.set(id, usable(id, earlier, common, clock.now()));
      }
      if (found.size >= MAX_BATCH)
        throw new Error(`At most ${String(MAX_BATCH - 1)} transactions can come first`);
      const required = new Set([...found.values()].flatMap(requiredBefore));
      const confirmed = read.filter(({ state }) => state === 'confirmed').map(({ id }) => id);
      ids = [...required].filter((id) => !found.has(id) && !confirmed.includes(id));
    }
    return [...found.values()].sort((a, b) => a.id - b.id);
  }
}

/** @throws Error in words for the assistant when a transaction cannot come before one of `common` */
function usable(
  id: number,
  earlier: WalletRequest | undefined,
  { app, wallet, chainId }: Pick<WalletRequest, 'app' | 'wallet' | 'chainId'>,
  now: number,
): WalletRequest & { readonly payload: TransactionPayload } {
  const name = `Request ${String(id)}`;
  if (earlier?.app !== app || !isTransaction(earlier))
    throw new Error(`There is no staged transaction ${String(id)}`);
  if (earlier.wallet !== wallet || earlier.chainId !== chainId)
    throw new Error(`${name} is of another wallet or chain`);
  if (hasFailed(earlier) || (earlier.state === 'staged' && earlier.expiresAt <= now))
    throw new Error(`${name} did not take place: stage it again`);
  if (!earlier.isSound) throw new Error(`${name} would fail: nothing can depend on it`);
  if (isLookedFor(earlier, now))
    throw new Error(
      `The outcome of request ${String(id)} is not known yet: list_wallet_requests looks again`,
    );
  if (earlier.state === 'reported' || earlier.state === 'not_found')
    throw new Error(
      `The outcome of request ${String(id)} cannot be verified: ask the person whether it took place. If it did, leave it out of after; if not, stage it again`,
    );
  return earlier;
}

function isTransaction(
  request: WalletRequest,
): request is WalletRequest & { readonly payload: TransactionPayload } {
  return request.payload.kind === 'transaction';
}

/** Describes a staged transaction and its simulation for the assistant. */
function shownStaging(
  staged: WalletRequest,
  {
    chain,
    simulation,
    earlier,
  }: {
    readonly chain: ChainInfo;
    readonly simulation: Simulation;
    readonly earlier: readonly WalletRequest[];
  },
): JsonObject {
  const failed = simulation.steps.findIndex(({ success }) => !success);
  const culprit = failed === -1 ? undefined : (earlier[failed]?.id ?? staged.id);
  const step = simulation.steps[failed === -1 ? simulation.steps.length - 1 : failed];
  return {
    ...{ id: staged.id, chain_id: chain.id, chain: chain.name, from: staged.wallet },
    ...(isTransaction(staged) && shownTransaction(staged.payload, chain)),
    label: staged.label,
    simulation: {
      ...{ success: failed === -1, stateful: simulation.stateful },
      ...(step?.gasUsed != null && { gas_used: step.gasUsed }),
      ...(step?.revertReason != null && { revert_reason: step.revertReason }),
      ...(step?.result != null && { result: shortHex(step.result) }),
    },
    expires_at: new Date(staged.expiresAt).toISOString(),
    next: nextWords(staged, earlier, { culprit, isWhole: simulation.stateful || earlier.length === 0 }),
  };
}

function nextWords(
  staged: WalletRequest,
  earlier: readonly WalletRequest[],
  { culprit, isWhole }: { readonly culprit: number | undefined; readonly isWhole: boolean },
): string {
  const id = String(staged.id);
  if (!staged.isSound || culprit !== undefined) {
    const what = culprit === undefined || culprit === staged.id ? 'It' : `Request ${String(culprit)}`;
    const hint = isWhole
      ? 'stage a corrected transaction.'
      : 'this chain cannot simulate transactions in sequence: request the first ones alone, and stage this one again when they are confirmed.';
    return `${what} would fail, so request ${id} cannot be made: ${hint}`;
  }
  const before = earlier.filter(({ state }) => state === 'staged');
  const ids = [...before, staged].map((request) => request.id).join(', ');
  return `Nothing was sent. Call request_transactions with ids [${ids}] to ask the person to sign.`;
}

/**
 * Returns a gas limit for a call that used `gasUsed` after refunds. Refunds are at most a fifth of what was used before
 * them (EIP-3529); the rest is for nested calls, each of which gets 63/64 of the gas that is left (EIP-150).
 */
function withMargin(gasUsed: string | null): string | null {
  const used = gasUsed === null ? undefined : parseWei(gasUsed);
  return used === undefined ? null : String((used * 3n) / 2n);
}

function callOf({ payload }: { readonly payload: TransactionPayload }): SimulatedCall {
  const { to, value, data } = payload;
  return { to, value, data };
}
