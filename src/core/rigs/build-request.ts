import type { App } from '../model/app.js';
import {
  estimateTokens,
  instructionsFor,
  promptMessages,
  promptTokens,
  type AttachedTokens,
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
  const messages = promptMessages(history, rig.contextTokens, reserved, attachedBy(rig, id));
  return { purpose: 'answer', sessionId: id, instructions, messages, tools };
}

/** Estimates the tokens of a request's instructions, tools and messages. */
export function requestTokens(
  { instructions, messages, tools, sessionId = '' }: RigRequest,
  rig: Rig,
): number {
  const others = estimateTokens(instructions) + toolTokens(tools);
  const attached = attachedBy(rig, sessionId);
  const lastUser = messages.findLastIndex(({ role }) => role === 'user');
  return messages.reduce(
    (sum, message, index) => sum + promptTokens(message) + attached(message, index < lastUser),
    others,
  );
}

function attachedBy(rig: Rig, sessionId: string): AttachedTokens {
  return (message, isPast) => {
    if (message.role === 'user') return 0;
    const tokens = message.toolCalls.map(({ callId }) => rig.attachedTokens(sessionId, callId, isPast));
    return tokens.reduce((sum, more) => sum + more, 0);
  };
}

const tokensOfTools = new WeakMap<readonly ToolDescription[], number>();

/** Estimates the tokens of the tool descriptions. Cached per array object. */
function toolTokens(tools: readonly ToolDescription[]): number {
  let tokens = tokensOfTools.get(tools);
  if (tokens === undefined) tokensOfTools.set(tools, (tokens = estimateTokens(JSON.stringify(tools))));
  return tokens;
}
