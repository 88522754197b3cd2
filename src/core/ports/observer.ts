/**
 * Who is told what the work does, so that numbers and traces can be made of it. Nothing that is told is content: no
 * text, no arguments, no results. No method may throw, and none may take long: they are called in the middle of the
 * work.
 */
import type { StopReason } from '../model/abort.js';
import type { Rig, RigRequest } from './rig.js';
import type { ClaimedTurn, Turn, TurnOutcome, Usage } from '../model/turn.js';

/** How one question to a rig came out; `unavailable`: asked again later it may answer. */
export type AnswerOutcome = 'complete' | 'unavailable' | 'failed' | 'interrupted';

/** How a tool call came out; `refused`: there is no such tool, or the arguments did not fit. */
export type ToolOutcome = 'complete' | 'failed' | 'timeout' | 'refused' | 'interrupted';

/** A call of a tool. `name` is null when there is no such tool: then the name is the model's own words. */
export interface ObservedCall {
  readonly name: string | null;
  readonly callId: string;
  readonly app: string;
  readonly sessionId: string;
}

/** Is told of one tool call. */
export interface ToolCallObserver {
  ended(outcome: ToolOutcome): void;
}

/** Is told of tool calls: those of a turn, or those outside of turns. */
export interface ToolObserver {
  toolCalled(call: ObservedCall): ToolCallObserver;
}

/** Is told of one question to a rig. */
export interface AnswerObserver {
  /** The first text came. */
  spoke(): void;
  /** @param calls how many tool calls the answer makes */
  ended(outcome: AnswerOutcome, usage: Usage, calls: number): void;
}

/** Is told of one attempt at a turn. Only the first of `ended` and `left` counts. */
export interface TurnObserver extends ToolObserver {
  asked(rig: Rig, purpose: RigRequest['purpose']): AnswerObserver;
  /** It has ended, and that is stored. `rigId` is null when no rig was asked. */
  ended(outcome: TurnOutcome, rigId: string | null): void;
  /** This process has nothing more to do with it, though it has not ended here. */
  left(reason: StopReason): void;
}

/** Is told of all the work of this process. */
export interface Observer extends ToolObserver {
  /** A message was accepted: its turn waits, or starts at once. */
  accepted(turn: Turn): void;
  /** A turn ended as interrupted without being worked on here. */
  cancelled(turn: Turn): void;
  /** This process begins to work on a turn. */
  started(turn: ClaimedTurn): TurnObserver;
  /** Turns that nobody worked on were claimed. */
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

/** Nobody is told. */
export const UNOBSERVED: Observer = {
  accepted: nothing,
  cancelled: nothing,
  started: () => silentTurn,
  toolCalled: () => silentCall,
  tookOver: nothing,
};
