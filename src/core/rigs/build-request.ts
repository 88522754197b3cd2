import type { App } from '../model/app.js';
import {
  estimateTokens,
  instructionsFor,
  promptMessages,
  promptTokens,
  type History,
} from './context-window.js';
import type { Rig, RigRequest } from '../ports/rig.js';
import type { ToolDescription } from '../ports/tool.js';
import type { Session } from '../model/session.js';

/**
 * Builds the next model request of a turn: instructions with the user's context, as much history as fits the context
 * window, and the App's tools.
 */
export function buildRequest(
  { app, rig, tools }: { readonly app: App; readonly rig: Rig; readonly tools: readonly ToolDescription[] },
  { id, userState, wallet }: Pick<Session, 'id' | 'userState' | 'wallet'>,
  history: History,
): RigRequest {
  const instructions = instructionsFor(app.instructions, userState?.tree ?? null, wallet);
  const answer = rig.maxOutputTokens ?? Math.min(4096, Math.floor(rig.contextTokens / 4));
  const reserved = answer + estimateTokens(instructions) + toolTokens(tools);
  const messages = promptMessages(history, rig.contextTokens, reserved);
  return { purpose: 'answer', sessionId: id, instructions, messages, tools };
}

/** Estimates the tokens of a request's instructions, tools and messages. */
export function requestTokens({ instructions, messages, tools }: RigRequest): number {
  const others = estimateTokens(instructions) + toolTokens(tools);
  return messages.reduce((sum, message) => sum + promptTokens(message), others);
}

const tokensOfTools = new WeakMap<readonly ToolDescription[], number>();

/** Estimates the tokens of the tool descriptions. Cached per array object. */
function toolTokens(tools: readonly ToolDescription[]): number {
  let tokens = tokensOfTools.get(tools);
  if (tokens === undefined) tokensOfTools.set(tools, (tokens = estimateTokens(JSON.stringify(tools))));
  return tokens;
}
