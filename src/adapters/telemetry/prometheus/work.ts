import type { StopReason } from '../../../core/model/abort.js';
import type {
  AnswerObserver,
  AnswerOutcome,
  Observer,
  ToolObserver,
  TurnObserver,
} from '../../../core/ports/observer.js';
import type { Clock } from '../../../core/ports/clock.js';
import type { Rig, RigRequest } from '../../../core/ports/rig.js';
import type { TurnOutcome, Usage } from '../../../core/model/turn.js';
import type { Catalogue } from './catalogue.js';

/**
 * Counts the work of the core. The configuration bounds the labels: they name configured Apps, rigs and tools.
 * @param options `apps`: the names of all Apps; turns of Apps that were removed are counted as `other`
 */
export function createWorkObserver(
  metrics: Catalogue,
  options: { readonly apps: ReadonlySet<string>; readonly clock: Pick<Clock, 'now'> },
): Observer {
  const { apps, clock } = options;
  const appLabel = (app: string): string => (apps.has(app) ? app : 'other');

  const toolCalled: ToolObserver['toolCalled'] = ({ name }) => {
    const tool = name ?? 'unknown';
    const since = performance.now();
    return {
      ended(outcome) {
        metrics.toolCalls.add(1, tool, outcome);
        metrics.toolSeconds.observe(secondsSince(since), tool);
      },
    };
  };

  return {
    toolCalled,
    accepted({ app }) {
      metrics.accepted.add(1, appLabel(app));
    },
    cancelled({ app }) {
      metrics.turns.add(1, appLabel(app), 'none', 'interrupted');
    },
    tookOver(turns) {
      metrics.turnsTaken.add(turns);
    },
    started({ app, attempt, createdAt }) {
      if (attempt === 1) metrics.waitSeconds.observe(Math.max(0, clock.now() - createdAt) / 1000);
      return new Attempt(metrics, appLabel(app), toolCalled);
    },
  };
}

/** An attempt at a turn. */
class Attempt implements TurnObserver {
  readonly #since = performance.now();
  #isOver = false;
  #hasSpoken = false;

  constructor(
    private readonly metrics: Catalogue,
    private readonly app: string,
    readonly toolCalled: ToolObserver['toolCalled'],
  ) {
    metrics.turnsRunning.add(1);
  }

  asked({ id }: Rig, purpose: RigRequest['purpose']): AnswerObserver {
    return new Question(this.metrics, this, id, purpose);
  }

  /** Records the first text of a turn. */
  spoke(rig: string): void {
    if (this.#hasSpoken) return;
    this.#hasSpoken = true;
    this.metrics.firstTokenSeconds.observe(secondsSince(this.#since), rig);
  }

  ended(outcome: TurnOutcome, rigId: string | null): void {
    if (!this.#finish()) return;
    const rig = rigId ?? 'none';
    this.metrics.turns.add(1, this.app, rig, outcome);
    this.metrics.turnSeconds.observe(secondsSince(this.#since), rig, outcome);
  }

  left(reason: StopReason): void {
    if (this.#finish()) this.metrics.turnsLeft.add(1, reason);
  }

  /** Returns true on the first call. */
  #finish(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.metrics.turnsRunning.add(-1);
    return true;
  }
}

/** A request to a rig. */
class Question implements AnswerObserver {
  readonly #since = performance.now();

  constructor(
    private readonly metrics: Catalogue,
    private readonly attempt: Attempt,
    private readonly rig: string,
    private readonly purpose: RigRequest['purpose'],
  ) {}

  spoke(): void {
    this.metrics.answerFirstSeconds.observe(secondsSince(this.#since), this.rig);
    if (this.purpose === 'answer') this.attempt.spoke(this.rig);
  }

  ended(outcome: AnswerOutcome, { inputTokens, outputTokens }: Usage): void {
    const { metrics, rig, purpose } = this;
    metrics.answers.add(1, rig, purpose, outcome);
    metrics.answerSeconds.observe(secondsSince(this.#since), rig, purpose);
    metrics.tokens.add(inputTokens, rig, 'input');
    metrics.tokens.add(outputTokens, rig, 'output');
  }
}

/** @param reading an earlier value of the monotonic clock, in milliseconds */
function secondsSince(reading: number): number {
  return (performance.now() - reading) / 1000;
}
