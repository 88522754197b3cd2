import { linkSignals, untilAborted } from '../model/abort.js';
import type { CoreSettings } from '../model/settings.js';
import { isLookedFor, type TransactionPayload, type WalletRequest } from '../model/wallet-request.js';
import { pause, type Clock } from '../ports/clock.js';
import type { Chains } from '../ports/chains.js';
import type { Log } from '../ports/log.js';
import { SETTLED_ANOTHER, type WalletStore } from '../ports/wallet-store.js';
import { nothingToVerify, signatureFinding, transactionFinding, type Finding } from './outcome-findings.js';
import { verdictWords } from './request-words.js';

/** The interval between looks at a chain: grows by the first number with each look, up to the second. */
const STEP_MS = 1_000;
const MAX_INTERVAL_MS = 5_000;
/** The time limit of `glance`. */
const GLANCE_MS = 5_000;

/** The dependencies of `OutcomeVerification`. */
export interface OutcomeVerificationParts {
  readonly store: WalletStore;
  readonly chains: Chains;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Pick<CoreSettings, 'walletConfirmMs' | 'turnTimeoutMs'>;
}

/** How long to look: until `patience` aborts. `signal` stops the work. */
interface Limits {
  readonly signal: AbortSignal;
  readonly patience: AbortSignal;
}

type Judge = (request: WalletRequest) => Finding;

/**
 * Verifies what wallets report. A report is a claim: the service reads the transaction on its chain and compares it with
 * what was staged, or checks the signature. While a chain fails, its transactions count as not found yet.
 */
export class OutcomeVerification {
  constructor(private readonly parts: OutcomeVerificationParts) {}

  /**
   * Verifies the requests whose outcome began a turn, and stores the verdicts. Waits up to `walletConfirmMs` for a
   * transaction to be mined. Safe to repeat, because a definite verdict on a request holds.
   * @returns the verdicts in words; undefined when there was nothing to verify
   * @throws the reason of `signal`, or an error of the store
   */
  async verify(
    turn: { readonly id: string; readonly sessionId: string },
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { settings, store } = this.parts;
    const requests = await store.readWalletRequests(turn.sessionId, { turnId: turn.id });
    // The other half of the turn's time is for the model.
    const patienceMs = Math.min(settings.walletConfirmMs, settings.turnTimeoutMs / 2);
    const judged = await this.#verifyAll(requests, { signal, patienceMs, isLastLook: true });
    const words = judged.flatMap((request) => verdictWords(request) ?? []);
    return words.length === 0 ? undefined : words.join('\n');
  }

  /**
   * Looks briefly at the outcomes that no turn has verified yet, and again at those that were not found. Stores the
   * verdicts that no later look could change.
   * @returns all the requests as they are then
   */
  glance(requests: readonly WalletRequest[], signal: AbortSignal): Promise<readonly WalletRequest[]> {
    return this.#verifyAll(requests, { signal, patienceMs: GLANCE_MS, isLastLook: false });
  }

  async #verifyAll(
    requests: readonly WalletRequest[],
    {
      signal,
      patienceMs,
      isLastLook,
    }: { readonly signal: AbortSignal; readonly patienceMs: number; readonly isLastLook: boolean },
  ): Promise<readonly WalletRequest[]> {
    const now = this.parts.clock.now();
    const isOpen = (request: WalletRequest): boolean =>
      isLastLook ? request.state === 'reported' : isLookedFor(request, now);
    const groups = grouped(requests.filter(isOpen));
    if (groups.size === 0) return requests;
    const timeout = new AbortController();
    const cancelTimeout = this.parts.clock.after(patienceMs, () => {
      timeout.abort(new Error('The outcome was not found in time'));
    });
    let judges: ReadonlyMap<string, Judge>;
    try {
      // Side by side, so that a slow chain does not use up the patience for the others.
      const looks = [...groups].map(async ([key, group]) => {
        return [key, await this.#look(group, { signal, patience: timeout.signal }, isLastLook)] as const;
      });
      judges = new Map(await Promise.all(looks));
    } finally {
      cancelTimeout();
    }
    const judged: WalletRequest[] = [];
    // One after the other, so that a transaction confirms only the first of several requests.
    for (const request of requests) {
      const finding = isOpen(request) ? judges.get(keyOf(request))?.(request) : undefined;
      const isDefinite = finding !== undefined && (isLastLook || finding.verdict !== 'not_found');
      judged.push(isDefinite ? await this.#settle(request, finding) : request);
    }
    return judged;
  }

  /** Stores a verdict, unless there is one. */
  async #settle(request: WalletRequest, finding: Finding): Promise<WalletRequest> {
    const { store, clock } = this.parts;
    const { sessionId, id, turnId, chainId, claim, payload } = request;
    if (turnId === null) return request;
    const isTaken =
      finding.verdict === 'confirmed' &&
      payload.kind === 'transaction' &&
      claim?.proof != null &&
      (await store.findSettledBy(chainId, claim.proof)) !== undefined;
    const verification = { ...(isTaken ? SETTLED_ANOTHER : finding), at: clock.now() };
    return (await store.verifyWalletRequest(sessionId, id, turnId, verification)) ?? request;
  }

  /** Reads what the chain says about requests with the same claim. */
  async #look([request, ...others]: Group, limits: Limits, isLastLook: boolean): Promise<Judge> {
    const { chains } = this.parts;
    const { chainId, wallet, payload, claim } = request;
    const proof = claim?.proof ?? null;
    if (proof === null) return nothingToVerify;
    if (payload.kind === 'signature') {
      const { typedData, text } = payload;
      const signed =
        typedData === null
          ? ({ kind: 'text', text: text ?? '' } as const)
          : ({ kind: 'typed_data', typedData } as const);
      const isSigned = await this.#untilFinal(limits, async (signal) => ({
        value: await chains.isSignedBy(chainId, wallet, signed, proof, signal),
        isFinal: true,
      }));
      return () => signatureFinding(wallet, isSigned);
    }
    const compared = [request, ...others];
    const found = await this.#untilFinal(limits, async (signal) => {
      const value = await chains.findTransaction(chainId, proof, signal);
      const isAwaited = compared.some((one) => judgeBy(value)(one).verdict === 'not_found');
      return { value, isFinal: !isAwaited || !isLastLook };
    });
    return judgeBy(found);
  }

  /**
   * Repeats an attempt until its value is final. Returns the last value; undefined when every attempt failed.
   * @throws the reason of `limits.signal`
   */
  async #untilFinal<T>(
    limits: Limits,
    attempt: (signal: AbortSignal) => Promise<{ readonly value: T; readonly isFinal: boolean }>,
  ): Promise<T | undefined> {
    const { clock, log } = this.parts;
    const { signal, release } = linkSignals(limits.signal, limits.patience);
    let latest: T | undefined;
    try {
      for (let looks = 1; ; looks++) {
        try {
          const { value, isFinal } = await untilAborted(attempt(signal), signal);
          latest = value;
          if (isFinal) return latest;
        } catch (error) {
          signal.throwIfAborted();
          // Without the message, which may name an address or a hash.
          const reason = error instanceof Error ? error.name : typeof error;
          log.warn({ reason, looks }, 'failed to read a reported outcome from its chain');
        }
        await pause(clock, Math.min(STEP_MS * looks, MAX_INTERVAL_MS), signal);
      }
    } catch (error) {
      limits.signal.throwIfAborted();
      if (limits.patience.aborted) return latest;
      throw error;
    } finally {
      release();
    }
  }
}

type Group = readonly [WalletRequest, ...WalletRequest[]];

/** Groups requests by their claims: they are looked for together. */
function grouped(requests: readonly WalletRequest[]): ReadonlyMap<string, Group> {
  const groups = new Map<string, Group>();
  for (const request of requests) {
    const group = groups.get(keyOf(request));
    groups.set(keyOf(request), group === undefined ? [request] : [...group, request]);
  }
  return groups;
}

/** A signature is of one request: it is never looked at for several. */
function keyOf({ id, chainId, payload, claim }: WalletRequest): string {
  const proof = payload.kind === 'transaction' ? claim?.proof : null;
  return proof == null ? String(id) : `${String(chainId)} ${proof}`;
}

function judgeBy(found: Parameters<typeof transactionFinding>[1]): Judge {
  return (request) =>
    isTransaction(request) ? transactionFinding(request, found) : nothingToVerify(request);
}

function isTransaction(
  request: WalletRequest,
): request is WalletRequest & { readonly payload: TransactionPayload } {
  return request.payload.kind === 'transaction';
}
