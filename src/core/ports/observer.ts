/**
 * Hooks for metrics and traces. They receive no content: no text, no arguments, no results; only a provider's words
 * about a failed model request. Methods must not throw and must return quickly, because they are called synchronously
 * while a turn runs.
 */
import type { StopReason } from '../model/abort.js';
import type { Rig, RigRequest } from './rig.js';
import type { ClaimedTurn, Turn, TurnOutcome, Usage } from '../model/turn.js';

/** The outcome of one model request. `unavailable`: a retry may succeed. */
export type AnswerOutcome = 'complete' | 'unavailable' | 'failed' | 'interrupted';

/** The outcome of a tool call. `refused`: the tool does not exist, or the arguments do not match its schema. */
export type ToolOutcome = 'complete' | 'failed' | 'timeout' | 'refused' | 'interrupted';

/** A tool call. `name` is null if the tool does not exist: the name would then be text that the model wrote. */
export interface ObservedCall {
  readonly name: string | null;
  readonly callId: string;
  readonly app: string;
  readonly sessionId: string;
}

/** Observes one tool call. */
export interface ToolCallObserver {
  ended(outcome: ToolOutcome): void;
}

/** Observes tool calls: those of a turn, or those outside turns. */
export interface ToolObserver {
  toolCalled(call: ObservedCall): ToolCallObserver;
}

/** Observes one model request. */
export interface AnswerObserver {
  /** The first text has arrived. */
  spoke(): void;
  /**
   * @param calls the number of tool calls in the response
   * @param reason why the request failed, for the operator alone (`RigError.reason`)
   */
  ended(outcome: AnswerOutcome, usage: Usage, calls: number, reason?: string): void;
}

/** Observes one attempt at a turn. Only the first call of `ended` or `left` counts. */
export interface TurnObserver extends ToolObserver {
  /** A model request starts. */
  asked(rig: Rig, purpose: RigRequest['purpose']): AnswerObserver;
  /** The turn has ended, and its end is stored. `rigId` is null if no model request was made. */
  ended(outcome: TurnOutcome, rigId: string | null): void;
  /** This process has stopped working on the turn without ending it. */
  left(reason: StopReason): void;
}

/** Observes all work of this process. */
export interface Observer extends ToolObserver {
  /** A message was accepted. Its turn is queued or starts immediately. */
  accepted(turn: Turn): void;
  /** A turn was ended as interrupted without having run in this process. */
  cancelled(turn: Turn): void;
  /** This process starts to work on a turn. */
  started(turn: ClaimedTurn): TurnObserver;
  /** This process has claimed abandoned turns. */
  tookOver(turns: number): void;
}

const nothing = (): void => undefined;
const silentCall: ToolCallObserver = { ended: nothing };
const silentAnswer: AnswerObserver = { spoke: nothing, ended: nothing };
const silentTurn: TurnObserver = {
  asked: () => silentAnswer,
  toolCalled: () => silentCall,
  ended: nothing,
  left: nothing,
};

/** An observer that does nothing. */
export const UNOBSERVED: Observer = {
  accepted: nothing,
  cancelled: nothing,
  started: () => silentTurn,
  toolCalled: () => silentCall,
  tookOver: nothing,
};
