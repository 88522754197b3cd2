import type { StopReason } from '../model/abort.js';
import {
  UNOBSERVED,
  type AnswerObserver,
  type AnswerOutcome,
  type ObservedCall,
  type Observer,
  type ToolCallObserver,
  type ToolObserver,
  type TurnObserver,
} from './observer.js';
import type { Rig, RigRequest } from './rig.js';
import type { TurnOutcome, Usage } from '../model/turn.js';

/** Combines observers into one that calls all of them in order. */
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
    toolCalled: (call) => toolCall(all, call),
    started: (turn) => new Attempts(all.map((observer) => observer.started(turn))),
  };
}

class Attempts implements TurnObserver {
  constructor(private readonly all: readonly TurnObserver[]) {}

  asked(rig: Rig, purpose: RigRequest['purpose']): AnswerObserver {
    return new Answers(this.all.map((attempt) => attempt.asked(rig, purpose)));
  }

  toolCalled(call: ObservedCall): ToolCallObserver {
    return toolCall(this.all, call);
  }

  ended(outcome: TurnOutcome, rigId: string | null): void {
    for (const attempt of this.all) attempt.ended(outcome, rigId);
  }

  left(reason: StopReason): void {
    for (const attempt of this.all) attempt.left(reason);
  }
}

class Answers implements AnswerObserver {
  constructor(private readonly all: readonly AnswerObserver[]) {}

  spoke(): void {
    for (const answer of this.all) answer.spoke();
  }

  ended(outcome: AnswerOutcome, usage: Usage, calls: number, reason?: string): void {
    for (const answer of this.all) answer.ended(outcome, usage, calls, reason);
  }
}

function toolCall(all: readonly ToolObserver[], call: ObservedCall): ToolCallObserver {
  const calls = all.map((observer) => observer.toolCalled(call));
  return {
    ended(outcome) {
      for (const observed of calls) observed.ended(outcome);
    },
  };
}
