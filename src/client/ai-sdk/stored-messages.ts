import type { UIMessage } from 'ai';
import type { RunningTurn } from '../messages.js';
import { beginningOf } from '../current/resume.js';
import type { HistoryCall, HistoryMessage } from '../types.js';
import { NO_RESULT, outputOf } from './turn-chunks.js';

type Part = UIMessage['parts'][number];

/**
 * Converts stored messages to those of the AI SDK; the steps of a reply form one message.
 * @param running its reply and the queued messages are left out
 */
export function uiMessagesOf(
  stored: readonly HistoryMessage[],
  running: RunningTurn | undefined,
): UIMessage[] {
  const end = running === undefined ? -1 : beginningOf(stored, running);
  const shown = end === -1 ? stored : stored.slice(0, end + 1);
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
