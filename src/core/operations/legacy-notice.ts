import { linkSignals } from '../model/abort.js';
import { pause, type Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { UsageStore } from '../ports/usage-store.js';
import type { UsageReport } from './usage-report.js';

/** What the operator's webhook receives when the legacy surface may be switched off. */
export interface LegacyNotice {
  /** The same for every delivery of the same notice. */
  readonly id: string;
  readonly report: UsageReport;
}

/** Delivers a notice. Rejects when the receiver has not confirmed it. */
export type Deliver = (notice: LegacyNotice, signal: AbortSignal) => Promise<void>;

/** The name of the notice in the store. */
const NAME = 'legacy_unused';
const EVERY_MS = 3_600_000;
/** Delays before the attempts of one round; the next round follows with the next check. */
const DELAYS_MS = [0, 1_000, 5_000, 25_000, 125_000];
/** How long one attempt may take. */
const ATTEMPT_MS = 10_000;
/** A claim outlasts a round of attempts, so that no other node delivers the notice during the attempts. */
const CLAIM_MS = 300_000;

/** The dependencies of `LegacyNotices`. */
export interface LegacyNoticeParts {
  readonly store: Pick<UsageStore, 'claimNotice' | 'settleNotice'>;
  readonly report: (asked: { readonly days: number }) => Promise<UsageReport>;
  readonly deliver: Deliver;
  /** How many days without a legacy request make the notice due. */
  readonly days: number;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Checks at the start and every hour whether the legacy surface may be switched off, and delivers one notice of that;
 * another one only after the surface was used again. Several nodes and restarts deliver it once: a claim in the store
 * precedes the delivery. A process that is killed between the delivery and its record delivers the notice again with
 * the same id.
 */
export class LegacyNotices {
  readonly #closed = new AbortController();
  readonly #owner: string;
  #cancel: (() => void) | undefined;
  #checking: Promise<void> = Promise.resolve();

  constructor(private readonly parts: LegacyNoticeParts) {
    this.#owner = parts.clock.newId();
  }

  start(): void {
    this.#cancel ??= this.parts.clock.every(EVERY_MS, () => void this.check());
    void this.check();
  }

  /** Delivers the notice if it is due. Never rejects. */
  check(): Promise<void> {
    this.#checking = this.#checking.then(() => this.#check());
    return this.#checking;
  }

  /** Stops the timer and the attempts in progress. */
  async close(): Promise<void> {
    this.#cancel?.();
    this.#closed.abort(new Error('The service is closing'));
    await this.#checking;
  }

  async #check(): Promise<void> {
    const { store, clock, days, log } = this.parts;
    if (this.#isClosed()) return;
    try {
      const report = await this.parts.report({ days });
      if (report.verdict.kind !== 'unused') return;
      const at = clock.now();
      const claim = { name: NAME, owner: this.#owner, at, until: at + CLAIM_MS };
      if (!(await store.claimNotice({ ...claim, deliveredBefore: report.lastUsedAt }))) return;
      await this.#deliver({ id: idOf(report), report });
      await store.settleNotice(NAME, this.#owner, clock.now());
      log.info({ notice: NAME }, 'delivered a notice');
    } catch (error) {
      if (!this.#isClosed()) log.warn({ err: error, notice: NAME }, 'failed to deliver a notice');
    }
  }

  #isClosed(): boolean {
    return this.#closed.signal.aborted;
  }

  /** @throws the error of the last attempt */
  async #deliver(notice: LegacyNotice): Promise<void> {
    let failure: unknown;
    for (const delay of DELAYS_MS) {
      if (delay > 0) await pause(this.parts.clock, delay, this.#closed.signal);
      const timeout = new AbortController();
      const cancel = this.parts.clock.after(ATTEMPT_MS, () => {
        timeout.abort(new Error('The webhook did not respond in time'));
      });
      const { signal, release } = linkSignals(timeout.signal, this.#closed.signal);
      try {
        await this.parts.deliver(notice, signal);
        return;
      } catch (error) {
        failure = error;
      } finally {
        cancel();
        release();
      }
    }
    throw failure;
  }
}

function idOf({ lastUsedAt }: UsageReport): string {
  return `${NAME}:${lastUsedAt === null ? 'never' : new Date(lastUsedAt).toISOString()}`;
}
