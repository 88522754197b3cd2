import type { UIMessage } from 'ai';
import type { Thread } from '../current/running-turn.js';
import { beginsStoredTurn } from '../messages.js';
import type { HistoryCall } from '../types.js';
import { NO_RESULT, outputOf } from './turn-chunks.js';

type Part = UIMessage['parts'][number];

/**
 * Converts stored messages to those of the AI SDK; the steps of a reply form one message. Leaves out the reply of the
 * running turn and the queued messages.
 */
export function uiMessagesOf({ messages: stored, running }: Thread): UIMessage[] {
  const start = stored.findIndex(({ turnId }) => turnId === running?.turnId);
  const first = stored[start];
  // A page may begin in the middle of a reply.
  const shown = first === undefined ? stored : stored.slice(0, beginsStoredTurn(first) ? start + 1 : start);
  const messages: UIMessage[] = [];
  for (const { id, role, content, toolCalls } of shown) {
    const parts: Part[] = content === '' ? [] : [{ type: 'text', text: content, state: 'done' }];
    parts.push(...toolCalls.map(partOf));
    const last = messages.at(-1);
    if (role === 'assistant' && last?.role === 'assistant') last.parts.push(...parts);
    else messages.push({ id, role, parts });
  }
  return messages;
}

function partOf({ callId, name, args, result, failed }: HistoryCall): Part {
  const call = { type: 'dynamic-tool', toolName: name, toolCallId: callId, input: args } as const;
  if (result === null || failed)
    return { ...call, providerExecuted: true, state: 'output-error', errorText: result ?? NO_RESULT };
  return { ...call, providerExecuted: true, state: 'output-available', output: outputOf(result) };
}
