import { tokenUses, type LimitSettings } from '../model/quota.js';
import type { Clock } from '../ports/clock.js';
import type { AttemptUse } from '../ports/lease-store.js';
import type { Log } from '../ports/log.js';
import { StoreUnavailableError, type Store } from '../ports/store.js';
import type { RunningTurn } from './running-turn.js';

/** How many attempts wait at most for an unavailable store. The oldest are dropped. */
const MAX_WAITING = 10_000;

interface CountingParts {
  readonly clock: Clock;
  readonly settings: { readonly limits: LimitSettings };
}

/** Returns the usage of this attempt at a turn so far. */
export function attemptUse(
  { turn, usage, shownTokens }: RunningTurn,
  { clock, settings }: CountingParts,
): Pick<AttemptUse, 'usage' | 'shownTokens' | 'uses'> {
  const tokens = usage.inputTokens + usage.outputTokens;
  const uses = tokens === 0 ? [] : tokenUses(settings.limits, turn, tokens, clock.now());
  return { usage, shownTokens, uses };
}

/** Records the usage of attempts that did not end their turns. The end of a turn records only its own attempt's. */
export class LeftAttempts {
  #attempts: AttemptUse[] = [];

  constructor(
    private readonly parts: CountingParts & {
      readonly store: Pick<Store, 'countAttempts'>;
      readonly log: Log;
    },
  ) {}

  /** Adds an attempt that makes no more model requests. */
  add(running: RunningTurn): void {
    const { id: turnId, attempt } = running.turn;
    const used = attemptUse(running, this.parts);
    const isUsed = used.usage.inputTokens + used.usage.outputTokens > 0;
    if (isUsed) this.#attempts.push({ turnId, attempt, ...used });
  }

  /**
   * Stores and removes the added attempts. While the store is unavailable they wait for the next call; one that the
   * store recorded without acknowledging it counts twice. Never rejects.
   */
  async count(): Promise<void> {
    const attempts = this.#attempts.splice(0);
    if (attempts.length === 0) return;
    try {
      await this.parts.store.countAttempts(attempts);
    } catch (error) {
      if (error instanceof StoreUnavailableError)
        this.#attempts = [...attempts, ...this.#attempts].slice(-MAX_WAITING);
      const turns = attempts.map(({ turnId }) => turnId);
      this.parts.log.warn({ err: error, turns }, 'failed to record token usage');
    }
  }
}
