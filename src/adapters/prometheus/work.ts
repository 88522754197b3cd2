import type { Observer, ToolObserver } from '../../core/observer.js';
import type { Clock } from '../../core/ports.js';
import type { Catalogue } from './catalogue.js';

/**
 * Counts the work of the core. Labels are bounded by the configuration: the Apps, rigs and tools that there are.
 * @param options `apps`: the names of all Apps; others, of turns from before a change, are counted as `other`
 */
export function createWorkObserver(
  metrics: Catalogue,
  options: { readonly apps: ReadonlySet<string>; readonly clock: Pick<Clock, 'now'> },
): Observer {
  const { apps, clock } = options;
  const appLabel = (app: string): string => (apps.has(app) ? app : 'other');

  const toolCalled: ToolObserver['toolCalled'] = ({ name }) => {
    const tool = name ?? 'unknown';
    const elapsed = stopwatch();
    return {
      ended(outcome) {
        metrics.toolCalls.add(1, tool, outcome);
        metrics.toolSeconds.observe(elapsed(), tool);
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
      const elapsed = stopwatch();
      let isOver = false;
      let hasSpoken = false;
      metrics.turnsRunning.add(1);
      if (attempt === 1) metrics.waitSeconds.observe(Math.max(0, clock.now() - createdAt) / 1000);
      /** True the first time. */
      const finish = (): boolean => {
        if (isOver) return false;
        isOver = true;
        metrics.turnsRunning.add(-1);
        return true;
      };
      return {
        toolCalled,
        asked({ id: rig }, purpose) {
          const answered = stopwatch();
          return {
            spoke() {
              metrics.answerFirstSeconds.observe(answered(), rig);
              if (hasSpoken || purpose !== 'answer') return;
              hasSpoken = true;
              metrics.firstTokenSeconds.observe(elapsed(), rig);
            },
            ended(outcome, { inputTokens, outputTokens }) {
              metrics.answers.add(1, rig, purpose, outcome);
              metrics.answerSeconds.observe(answered(), rig, purpose);
              metrics.tokens.add(inputTokens, rig, 'input');
              metrics.tokens.add(outputTokens, rig, 'output');
            },
          };
        },
        ended(outcome, rigId) {
          if (!finish()) return;
          const rig = rigId ?? 'none';
          metrics.turns.add(1, appLabel(app), rig, outcome);
          metrics.turnSeconds.observe(elapsed(), rig, outcome);
        },
        left(reason) {
          if (finish()) metrics.turnsLeft.add(1, reason);
        },
      };
    },
  };
}

/** Seconds since now, by a clock that is never set back. */
function stopwatch(): () => number {
  const from = performance.now();
  return () => (performance.now() - from) / 1000;
}
