import type { PromptMessage, RigRequest } from '../../../core/ports/rig.js';
import { outputText } from '../ai-sdk/prompt.js';
import type { Outline } from '../request-outline.js';
import { isShortCallId, shortCallIds, type WireNames } from '../wire-names.js';
import type { Dialect } from './dialect.js';
import { callFields, messageFields, withPlaceholders, type SentReasoning } from './sent-reasoning.js';
import type { WireMessage } from './wire-message.js';

/** Stands between the results of a turn that was interrupted, or failed, and the next message of the user. */
const NO_REPLY = '(This turn ended without a reply.)';

/**
 * Builds the messages of a request. The roles alternate, and an assistant's message follows the results of tools:
 * Mistral's API and the chat templates of many models refuse any other sequence.
 */
export function wireMessages(
  instructions: RigRequest['instructions'],
  outline: Outline,
  { hasShortIds }: Dialect,
  reasoning: SentReasoning,
): readonly WireMessage[] {
  const { messages, withTools, usedCallIds, toolNames, callIds } = outline;
  const isShort = hasShortIds || [...usedCallIds].some(isShortCallId);
  const names = { tools: toolNames, calls: isShort ? shortCallIds(usedCallIds) : callIds };
  const wire: WireMessage[] = [];
  if (instructions.trim() !== '') wire.push({ role: 'system', content: instructions });
  const lastUser = messages.findLastIndex(({ role }) => role === 'user');
  for (const [index, message] of messages.entries()) {
    const isPast = index < lastUser;
    if (message.role === 'user') addUser(wire, message.content);
    else if (withTools && message.toolCalls.length > 0)
      addCalls(wire, message, { ...names, reasoning, isPast });
    else addText(wire, message.content);
  }
  return withPlaceholders(wire, reasoning.habit);
}

function addUser(wire: WireMessage[], content: string): void {
  const before = wire.at(-1);
  if (before?.role === 'tool') wire.push({ role: 'assistant', content: NO_REPLY });
  if (before?.role === 'user')
    wire[wire.length - 1] = { role: 'user', content: joined(before.content, content) };
  else wire.push({ role: 'user', content });
}

function addText(wire: WireMessage[], content: string): void {
  if (content.trim() === '') return;
  wire.push({ role: 'assistant', content: joined(takeText(wire), content) });
}

interface CallForm {
  readonly tools: Pick<WireNames, 'toWire'>;
  readonly calls: Pick<WireNames, 'toWire'>;
  readonly reasoning: SentReasoning;
  /** The calls belong to an earlier turn. */
  readonly isPast: boolean;
}
type AssistantMessage = Extract<PromptMessage, { role: 'assistant' }>;

function addCalls(
  wire: WireMessage[],
  { content, toolCalls, toolResults }: AssistantMessage,
  { tools, calls, reasoning, isPast }: CallForm,
): void {
  const text = joined(takeText(wire), content);
  wire.push({
    role: 'assistant',
    content: text === '' ? null : text,
    tool_calls: toolCalls.map(({ callId, name, args }) => ({
      id: calls.toWire(callId),
      type: 'function',
      function: { name: tools.toWire(name), arguments: JSON.stringify(args) },
      ...callFields(callId, reasoning),
    })),
    ...messageFields(toolCalls[0]?.callId, reasoning, isPast),
  });
  for (const { callId } of toolCalls) {
    const result = toolResults.find((candidate) => candidate.callId === callId);
    wire.push({ role: 'tool', tool_call_id: calls.toWire(callId), content: outputText(result) });
  }
}

/** Removes the text of the assistant at the end, which the next message of the assistant continues. */
function takeText(wire: WireMessage[]): string {
  const last = wire.at(-1);
  if (last?.role !== 'assistant') return '';
  wire.pop();
  return last.content ?? '';
}

function joined(...texts: readonly string[]): string {
  return texts.filter((text) => text.trim() !== '').join('\n\n');
}
