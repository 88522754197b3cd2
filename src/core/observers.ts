import { UNOBSERVED, type Observer, type ToolObserver } from './observer.js';

/** Tells all of them, in order. */
export function observers(all: readonly Observer[]): Observer {
  const [only = UNOBSERVED, ...others] = all;
  if (others.length === 0) return only;
  return {
    accepted(turn) {
      for (const observer of all) observer.accepted(turn);
    },
    cancelled(turn) {
      for (const observer of all) observer.cancelled(turn);
    },
    tookOver(turns) {
      for (const observer of all) observer.tookOver(turns);
    },
    toolCalled: toolCalls(all),
    started(turn) {
      const attempts = all.map((observer) => observer.started(turn));
      return {
        toolCalled: toolCalls(attempts),
        asked(rig, purpose) {
          const answers = attempts.map((attempt) => attempt.asked(rig, purpose));
          return {
            spoke() {
              for (const answer of answers) answer.spoke();
            },
            ended(outcome, usage, calls) {
              for (const answer of answers) answer.ended(outcome, usage, calls);
            },
          };
        },
        ended(outcome, rigId) {
          for (const attempt of attempts) attempt.ended(outcome, rigId);
        },
        left(reason) {
          for (const attempt of attempts) attempt.left(reason);
        },
      };
    },
  };
}

function toolCalls(all: readonly ToolObserver[]): ToolObserver['toolCalled'] {
  return (call) => {
    const calls = all.map((observer) => observer.toolCalled(call));
    return {
      ended(outcome) {
        for (const observed of calls) observed.ended(outcome);
      },
    };
  };
}
