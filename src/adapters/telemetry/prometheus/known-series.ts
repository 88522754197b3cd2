import type { AnswerOutcome, ToolOutcome } from '../../../core/ports/observer.js';
import type { TurnOutcome } from '../../../core/model/turn.js';
import type { StopReason } from '../../../core/model/abort.js';
import type { Catalogue } from './catalogue.js';

/** What the configuration names. */
export interface KnownNames {
  readonly apps: readonly string[];
  readonly rigs: readonly string[];
  readonly tools: readonly string[];
}

/** Metrics with more combinations than this start without series, to leave room for those that occur. */
const MAX_COMBINATIONS = 250;

const TURNS: readonly TurnOutcome[] = ['complete', 'interrupted', 'failed'];
const ANSWERS: readonly AnswerOutcome[] = ['complete', 'unavailable', 'failed', 'interrupted'];
const TOOLS: readonly ToolOutcome[] = ['complete', 'failed', 'timeout', 'refused', 'interrupted'];
const LEFT: readonly StopReason[] = ['lost', 'handover', 'deleted'];
const PURPOSES = ['answer', 'title'] as const;

/**
 * Creates the series whose labels are known at the start, so that they report 0: `rate` and `increase` miss the first
 * value of a series that appears later.
 */
export function createKnownSeries(metrics: Catalogue, { apps, rigs, tools }: KnownNames): void {
  const withoutRig = [...rigs, 'none'];
  const calledTools = [...tools, 'unknown'];
  plant(metrics.accepted, apps);
  plant(metrics.turns, apps, withoutRig, TURNS);
  plant(metrics.turnsLeft, LEFT);
  plant(metrics.turnSeconds, withoutRig, TURNS);
  plant(metrics.firstTokenSeconds, rigs);
  plant(metrics.answers, rigs, PURPOSES, ANSWERS);
  plant(metrics.answerSeconds, rigs, PURPOSES);
  plant(metrics.answerFirstSeconds, rigs);
  plant(metrics.tokens, rigs, ['input', 'output']);
  plant(metrics.toolCalls, calledTools, TOOLS);
  plant(metrics.toolSeconds, calledTools);
}

/** Creates a series for each combination of label values. */
function plant(
  instrument: { series(...labels: readonly string[]): unknown },
  ...labels: readonly (readonly string[])[]
): void {
  if (labels.reduce((product, { length }) => product * length, 1) > MAX_COMBINATIONS) return;
  const combinations = labels.reduce<readonly (readonly string[])[]>(
    (begun, values) => begun.flatMap((start) => values.map((value) => [...start, value])),
    [[]],
  );
  for (const values of combinations) instrument.series(...values);
}
