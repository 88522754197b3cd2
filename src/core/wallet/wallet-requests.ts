import type { App } from '../model/app.js';
import { parseWei } from '../model/amount.js';
import type { JsonObject } from '../model/json.js';
import type { CoreSettings } from '../model/settings.js';
import { VERDICT_WORDS, type WalletRequest } from '../model/wallet-request.js';
import { announce, type Bus } from '../ports/bus.js';
import type { Chains } from '../ports/chains.js';
import type { Clock } from '../ports/clock.js';
import type { ToolContext } from '../ports/tool.js';
import type { AskedWallet, WalletStore } from '../ports/wallet-store.js';
import type { SessionCache } from '../sessions/session-cache.js';
import type { OutcomeVerification } from './outcome-verification.js';
import { orderProblem, requiredBefore } from './request-order.js';
import { requesterOf, type Requester } from './requester.js';
import { shownProof } from './request-words.js';
import { chainWith } from './transaction-order.js';
import { dailyLimit, overDaily, signatureProblem, startOfDay, transactionProblem } from './wallet-policy.js';

/** How many requests a list shows. */
const LISTED = 20;
const NOTE =
  'The person has to approve in the wallet. You learn the outcome in a later turn: do not wait for it.';

const OVER_NOTE = 'Nothing of this is waiting for the wallet any more. To ask again, stage it again.';

/** The dependencies of `WalletRequests`. */
export interface WalletRequestParts {
  readonly store: WalletStore;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly threads: SessionCache;
  readonly chains: Chains;
  readonly apps: ReadonlyMap<string, App>;
  readonly settings: Pick<CoreSettings, 'walletRequestMs'>;
}

/** Asks wallets to sign what was staged, and lists the requests of a session. */
export class WalletRequests {
  constructor(
    private readonly parts: WalletRequestParts,
    private readonly verification: OutcomeVerification,
  ) {}

  /**
   * Asks the wallet to sign staged transactions. Takes ids alone, so that nothing but what was simulated can be signed.
   * Repeated with the same ids, it does nothing new.
   * @param given in the order in which the wallet should sign
   * @throws Error in words for the assistant
   */
  async requestTransactions(given: readonly number[], context: ToolContext): Promise<JsonObject> {
    const requester = requesterOf(this.parts.apps, context);
    const ids = [...new Set(given)];
    const asked = await this.#staged(ids, context.sessionId, requester);
    if (asked.every(({ requestedAt }) => requestedAt !== null)) return repeated(asked, context);
    for (const request of asked) this.#check(request, requester);
    const before = asked.flatMap(requiredBefore).filter((id) => !ids.includes(id));
    const earlier =
      before.length === 0
        ? []
        : await this.parts.store.readWalletRequests(context.sessionId, { ids: before });
    const problem = orderProblem(asked, new Map(earlier.map((request) => [request.id, request])));
    if (problem !== undefined) throw new Error(problem);
    const payload = { tx_ids: ids, aa_preference: 'none' };
    return this.ask(asked, { type: 'wallet_tx_request', payload }, requester, context);
  }

  /**
   * Asks the wallet to sign requests that were checked.
   * @param call the `InlineCall` for the client
   * @throws Error in words for the assistant
   */
  async ask(
    requests: readonly WalletRequest[],
    call: JsonObject,
    requester: Requester,
    context: ToolContext,
  ): Promise<JsonObject> {
    const { store, clock, settings, threads, bus } = this.parts;
    const { sessionId } = context;
    // A wallet must not be asked after an interrupt.
    context.signal.throwIfAborted();
    const at = clock.now();
    const asked = await store.requestWallet({
      sessionId,
      ids: requests.map(({ id }) => id),
      event: JSON.stringify(call),
      daily: this.#daily(requests, requester, at),
      expiresAt: at + settings.walletRequestMs,
      by: context.turn,
      at,
    });
    switch (asked.kind) {
      case 'refused':
        throw new Error(refusalWords(asked));
      case 'over_daily': {
        const chain = chainWith(this.parts.chains.list(), asked.chainId);
        throw new Error(overDaily(requester.policy, chain, parseWei(asked.used) ?? 0n));
      }
      case 'left':
        throw new Error('The turn was stopped before the wallet was asked');
      case 'unchanged':
        return repeated(asked.requests, context);
      case 'requested':
        break;
    }
    const thread = threads.peek(sessionId);
    thread?.apply(asked.commit, () => {
      thread.session = asked.session;
    });
    // The store numbers the new system event: reload the session before the next snapshot.
    if (thread !== undefined) thread.stale = true;
    announce(bus, sessionId, asked.commit);
    return requested(asked.requests, context);
  }

  /** Lists the latest requests of the App in this session, with the outcomes as far as they are known. */
  async list(context: ToolContext): Promise<JsonObject> {
    const { app, sessionId, signal } = context;
    const all = await this.parts.store.readWalletRequests(sessionId, { limit: LISTED });
    const latest = await this.verification.glance(
      all.filter((request) => request.app === app),
      signal,
    );
    return { requests: latest.map(shownRequest) };
  }

  async #staged(
    ids: readonly number[],
    sessionId: string,
    { app, wallet }: Requester,
  ): Promise<readonly WalletRequest[]> {
    const found = await this.parts.store.readWalletRequests(sessionId, { ids });
    return ids.map((id) => {
      const request = found.find((one) => one.id === id);
      if (request?.app !== app) throw new Error(`There is no staged transaction ${String(id)}`);
      if (request.payload.kind !== 'transaction')
        throw new Error(`Request ${String(id)} is a message, which request_signature has asked for`);
      if (request.wallet !== wallet)
        throw new Error(`Request ${String(id)} is of another wallet, ${request.wallet}: stage it again`);
      return request;
    });
  }

  /** The App's limits may have changed since the transaction was staged. */
  #check({ id, chainId, payload }: WalletRequest, { policy }: Requester): void {
    const chain = chainWith(this.parts.chains.list(), chainId);
    const problem =
      payload.kind === 'transaction'
        ? transactionProblem(policy, chain, { ...payload, value: parseWei(payload.value) ?? 0n })
        : signatureProblem(policy, chain, payload);
    if (problem !== undefined) throw new Error(`Request ${String(id)}: ${problem}`);
  }

  #daily(
    requests: readonly WalletRequest[],
    { policy }: Requester,
    now: number,
  ): { readonly since: number; readonly most: Readonly<Record<string, string>> } | null {
    const chains = new Set(requests.map(({ chainId }) => chainId));
    const most: Record<string, string> = {};
    for (const chain of this.parts.chains.list()) {
      const limit = chains.has(chain.id) ? dailyLimit(policy, chain) : undefined;
      if (limit !== undefined) most[String(chain.id)] = String(limit);
    }
    return Object.keys(most).length === 0 ? null : { since: startOfDay(now), most };
  }
}

/** Also marks the call as one with several steps: its outcome comes later. */
function requested(requests: readonly WalletRequest[], context: ToolContext): JsonObject {
  context.progress('waiting for the wallet');
  const expiresAt = Math.min(...requests.map((request) => request.expiresAt));
  return {
    requested: requests.map(({ id }) => id),
    expires_at: new Date(expiresAt).toISOString(),
    note: NOTE,
  };
}

/** Returns the result of a call that is repeated: its requests were made before. */
export function repeated(requests: readonly WalletRequest[], context: ToolContext): JsonObject {
  const over = requests.filter(({ state }) => state !== 'pending');
  const outcomes = over.map((request) => [String(request.id), stateWords(request)] as const);
  return {
    ...requested(requests, context),
    ...(over.length > 0 && { outcomes: Object.fromEntries(outcomes) }),
    ...(over.length === requests.length && { note: OVER_NOTE }),
  };
}

function refusalWords({ id, reason }: Extract<AskedWallet, { kind: 'refused' }>): string {
  const name = `Request ${String(id)}`;
  switch (reason) {
    case 'unknown':
      return `There is no staged transaction ${String(id)}`;
    case 'unsound':
      return `${name} would fail, as its simulation has shown: stage a corrected transaction`;
    case 'expired':
      return `${name} has expired: stage it again`;
    case 'pending':
      return `${name} is waiting for the wallet already: ask for the others alone`;
    case 'settled':
      return `${name} has an outcome already: see list_wallet_requests`;
    case 'full':
      return 'Too much is waiting for the wallet: wait until the person has signed or rejected something';
  }
  return reason satisfies never;
}

function shownRequest(request: WalletRequest): JsonObject {
  const { id, payload, chainId, label, expiresAt, claim, verification, state } = request;
  const isOpen = state === 'staged' || state === 'pending';
  const proof = claim?.proof ?? null;
  const proofName = payload.kind === 'transaction' ? 'transaction' : 'signature';
  return {
    ...{ id, kind: payload.kind, label, chain_id: chainId, state: stateWords(request) },
    ...(!request.isSound && { simulation: 'failed' }),
    ...(isOpen && { expires_at: new Date(expiresAt).toISOString() }),
    ...(claim !== null && { wallet_reported: claim.status }),
    ...(proof !== null && { [proofName]: shownProof(proof) }),
    ...(claim?.error != null && { wallet_error: claim.error }),
    ...(verification !== null && { detail: verification.detail }),
  };
}

/** Names the state of a request as the assistant reads it. */
function stateWords({ state }: WalletRequest): string {
  switch (state) {
    case 'reported':
      return 'reported, not verified yet';
    case 'confirmed':
    case 'failed':
    case 'differs':
    case 'not_found':
      return VERDICT_WORDS[state];
    case 'staged':
    case 'pending':
    case 'expired':
    case 'rejected':
      return state;
  }
  return state satisfies never;
}
