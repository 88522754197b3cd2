import { ClientError } from '../../../client/error.js';
import { Backoff } from '../../../client/pacing.js';
import type { PendingRequest } from '../../../client/pending.js';
import type { WalletReport } from '../../../client/types.js';
import { Observable } from '../../parts/observable.js';
import { reasonOf } from '../conversation/user-words.js';
import { isAlike, type Asked } from './asked.js';
import type { WalletConnection } from './connection.js';
import { LockWatch, withLock } from './locks.js';
import { CODES, WalletError } from './provider.js';
import { keyOf, type KeptRequest, type Outcome, type Records } from './records.js';
import { prepare, reportOf, sign } from './signing.js';

/** What happens to a request in this tab. */
export interface Progress {
  /** `asking`: this tab waits for the wallet. `reporting`: it sends the outcome to the service. */
  readonly act: 'asking' | 'reporting' | null;
  /** In words for the user. */
  readonly problem: string | null;
}

/** The calls of the service. They reject with a `ClientError`. */
export interface RequestService {
  report(sessionId: string, report: WalletReport): Promise<void>;
  pending(sessionId: string): Promise<readonly PendingRequest[]>;
}

/** A kept request with its outcome. */
type Due = KeptRequest & { readonly outcome: Outcome };

const SECOND_PROMPT = 'Your wallet has signed this request. Decline any other prompt that it shows for it.';

const IDLE: Progress = { act: null, problem: null };

/**
 * Takes wallet requests from the person's decision to the report of the outcome. A request is signed at most once: what
 * a wallet was asked is kept before the wallet is asked, and the outcome before it is reported, so that a closed tab, a
 * second tab or a service that is away change nothing.
 */
export class RequestDesk extends Observable<ReadonlyMap<string, Progress>> {
  /** The requests whose wallet is asked by another tab. */
  readonly elsewhere: LockWatch;
  /** Stops waiting for the wallet, by request that this tab waits for. */
  readonly #waits = new Map<string, AbortController>();
  /** The requests whose problem is that the service could not be reached. */
  readonly #outages = new Set<string>();
  #service: RequestService | null = null;
  #stop = new AbortController();

  constructor(
    private readonly records: Records,
    private readonly connection: WalletConnection,
  ) {
    super(new Map());
    this.elsewhere = new LockWatch();
    const look = (): void => {
      this.elsewhere.watch(this.#unanswered());
    };
    records.subscribe(look);
    look();
  }

  /** Starts to report: first the outcomes that an earlier visit could not report. Returns a function that stops. */
  start(service: RequestService): () => void {
    this.#service = service;
    this.#stop = new AbortController();
    for (const [key, { outcome, reportedAt }] of this.records.get()) {
      if (outcome !== null && reportedAt === null) void this.#deliver(key);
    }
    return () => {
      this.#stop.abort();
      this.#service = null;
    };
  }

  /** Removes what is said about the outage of the service, once it can be reached again. */
  forgetOutages(): void {
    for (const key of this.#outages) if (this.#of(key).act === null) this.#update(key, IDLE);
    this.#outages.clear();
  }

  /**
   * Asks the wallet to sign a request, and reports the outcome.
   * @param isRepeat the wallet was asked before, and the person knows that it signed nothing
   */
  async approve(asked: Asked, isRepeat = false): Promise<void> {
    const key = keyOf(asked.sessionId, asked.request.id);
    if (this.#of(key).act !== null) return;
    this.#outages.delete(key);
    this.#update(key, { act: 'asking', problem: null });
    const wait = new AbortController();
    this.#waits.set(key, wait);
    const task = (): Promise<string | null> =>
      Promise.race([this.#ask(key, asked, { isRepeat, signal: wait.signal }), aborted(wait.signal)]);
    const problem = await withLock(key, task).catch(reasonOf);
    this.#waits.delete(key);
    this.#update(key, { act: null, problem });
    await this.#deliver(key);
    // A report that succeeds removes what was said before.
    if (problem === SECOND_PROMPT && this.#of(key).problem === null)
      this.#update(key, { ...this.#of(key), problem });
  }

  /** Stops waiting for a wallet that does not respond. A late response still counts. */
  stopWaiting({ sessionId, request }: Asked): void {
    this.#waits.get(keyOf(sessionId, request.id))?.abort();
  }

  /** Reports that the person does not want a request. */
  async reject(asked: Asked): Promise<void> {
    await this.#settle(asked, { status: 'failed', error: 'The person rejected the request.' });
  }

  /** Reports the hash of a transaction that the wallet has sent although its response was lost. */
  async tellHash(asked: Asked, hash: string): Promise<void> {
    await this.#settle(asked, { status: 'success', proof: hash.toLowerCase() });
  }

  /** Reports a kept outcome again after a refusal. */
  async reportAgain(sessionId: string, id: number): Promise<void> {
    await this.#deliver(keyOf(sessionId, id));
  }

  async #settle(asked: Asked, outcome: Outcome): Promise<void> {
    const key = keyOf(asked.sessionId, asked.request.id);
    if (this.#of(key).act !== null) return;
    this.#outages.delete(key);
    const problem = await withLock(key, () => {
      if (!this.#isDecided(key)) this.#keep(key, asked, outcome);
      return Promise.resolve(null);
    }).catch(reasonOf);
    this.#update(key, { act: null, problem });
    await this.#deliver(key);
  }

  /**
   * @param how `signal`: aborts when the person stops waiting
   * @returns the problem in words; null: there is an outcome, or the person stopped waiting
   */
  async #ask(
    key: string,
    asked: Asked,
    { isRepeat, signal }: { readonly isRepeat: boolean; readonly signal: AbortSignal },
  ): Promise<string | null> {
    const { connected } = this.connection.get();
    if (connected === null) return 'Connect a wallet first.';
    const before = this.records.read(key);
    if (before !== null && (before.outcome !== null || !isRepeat)) return null;
    const gone = await this.#isGone(asked);
    if (gone !== null) return gone;
    const signer = await prepare(connected, asked.request);
    const isLate = (): boolean => signal.aborted;
    // An earlier prompt may have been answered meanwhile.
    if (isLate() || this.#isDecided(key)) return null;
    this.#keep(key, asked, null);
    try {
      const proof = await sign(connected.wallet.provider, signer, asked.request);
      return await this.#take(key, asked, { status: 'success', proof }, signal);
    } catch (error) {
      if (!(error instanceof WalletError)) throw error;
      if (error.code === CODES.rejected) {
        const outcome = { status: 'failed', error: 'The person declined in the wallet.' } as const;
        return this.#take(key, asked, outcome, signal);
      }
      // Otherwise the wallet may have signed: the card then says so.
      if (error.isHarmless && before === null && !isLate()) this.records.remove(key);
      return error.message;
    }
  }

  /**
   * Keeps what a wallet has responded, and reports it if the person did not wait for it. Another prompt of the same
   * request may have been responded to before, or may be open.
   * @returns the problem in words; null: the outcome is kept
   */
  async #take(key: string, asked: Asked, outcome: Outcome, { aborted: isLate }: AbortSignal) {
    const { act } = this.#of(key);
    const isDecided = this.#isDecided(key);
    if (!isDecided && (outcome.status === 'success' || !isLate || act === null)) {
      this.#keep(key, asked, outcome);
      // Another prompt is open, or about to open.
      if (isLate) this.#waits.get(key)?.abort(SECOND_PROMPT);
    }
    const proof = outcome.status === 'success' && asked.request.kind === 'transaction' ? outcome.proof : '';
    const isSecond = isDecided && outcome.status === 'success';
    const problem = isSecond
      ? `The wallet has signed this request after its outcome was known. ${proof}`
      : null;
    if (!isLate) return problem;
    if (isSecond) this.#update(key, { act, problem });
    await this.#deliver(key);
    return null;
  }

  /**
   * Looks whether a request still waits: another device may have taken it, or it may have expired.
   * @returns why it must not be signed now; null: it waits, as it is shown
   */
  async #isGone({ sessionId, request }: Asked): Promise<string | null> {
    let pending: readonly PendingRequest[] | undefined;
    try {
      pending = await this.#service?.pending(sessionId);
    } catch (error) {
      if (error instanceof ClientError && error.kind === 'unreachable')
        this.#outages.add(keyOf(sessionId, request.id));
      return `The service did not confirm that this request still waits: ${reasonOf(error)}.`;
    }
    const now = pending?.find(({ id }) => id === request.id);
    if (now === undefined) return 'This request does not wait any more.';
    return isAlike(now, request) ? null : 'This request has changed: read it again.';
  }

  /** True if this browser knows the outcome of a request. */
  #isDecided(key: string): boolean {
    return (this.records.read(key)?.outcome ?? null) !== null;
  }

  #keep(key: string, { sessionId, request, title }: Asked, outcome: Outcome | null): void {
    const { id, kind, chainId } = request;
    const record = { sessionId, id, kind, chainId, title, outcome, reportedAt: null, at: Date.now() };
    this.records.put(key, record);
  }

  /** Reports a kept outcome, and retries while the service is away. */
  async #deliver(key: string): Promise<void> {
    const backoff = new Backoff();
    for (;;) {
      const { signal } = this.#stop;
      const due = this.#due(key);
      if (due === undefined || this.#service === null || this.#of(key).act !== null) return;
      this.#update(key, { act: 'reporting', problem: this.#of(key).problem });
      const failure = await this.#sendOnce(key, due);
      if (failure?.retryable !== true) {
        // A deleted thread cannot receive the outcome: it is not reported again.
        if (failure?.status === 404) this.#keepReported(key, due);
        const problem = failure === null ? null : `The service refused the outcome: ${reasonOf(failure)}.`;
        this.#update(key, { act: null, problem });
        return;
      }
      const problem =
        'The service does not respond. The outcome is kept here and reported when the service is back.';
      this.#update(key, { act: 'reporting', problem });
      await backoff.pause(signal, failure.retryAfterMs);
      this.#update(key, { act: null, problem });
    }
  }

  /** Keeps that an outcome was reported, without a signature, which can be worth money and is not needed any more. */
  #keepReported(key: string, due: Due): void {
    const isSignature = due.kind === 'signature' && due.outcome.status === 'success';
    const outcome: Outcome = isSignature ? { status: 'success', proof: '' } : due.outcome;
    this.records.put(key, { ...due, outcome, reportedAt: Date.now() });
  }

  /** Returns a kept outcome that the service does not have; undefined: none. */
  #due(key: string): Due | undefined {
    const kept = this.records.read(key);
    return kept?.reportedAt === null && kept.outcome !== null
      ? { ...kept, outcome: kept.outcome }
      : undefined;
  }

  /** @returns the error; null: the service has the outcome */
  async #sendOnce(key: string, due: Due): Promise<ClientError | null> {
    try {
      await this.#service?.report(due.sessionId, reportOf(due, due.outcome));
      this.#keepReported(key, due);
      return null;
    } catch (error) {
      if (error instanceof ClientError) return error;
      throw error;
    }
  }

  /** Returns the requests that a wallet was asked to sign, by another tab or by one that was closed. */
  #unanswered(): readonly string[] {
    const kept = [...this.records.get()].filter(([, { outcome }]) => outcome === null);
    return kept.map(([key]) => key).filter((key) => this.#of(key).act !== 'asking');
  }

  #of(key: string): Progress {
    return this.get().get(key) ?? IDLE;
  }

  #update(key: string, progress: Progress): void {
    this.set(new Map(this.get()).set(key, progress));
  }
}

/** Resolves once a signal is aborted, with the reason if it is in words. */
function aborted(signal: AbortSignal): Promise<string | null> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      resolve(typeof signal.reason === 'string' ? signal.reason : null);
    });
  });
}
