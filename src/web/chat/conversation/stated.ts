import type { ChatMessage, SessionState } from '../../../client/types.js';
import type { Block, ViewMessage } from './view.js';

/** What a state says of the thread. */
export interface Stated {
  readonly messages: readonly ViewMessage[];
  /** The texts of the turns that wait. */
  readonly queued: readonly string[];
  readonly users: readonly string[];
}

/** The thread of a state: steps of one answer joined, and what waits behind the running turn set apart. */
export function readState({ messages, status }: SessionState): Stated {
  const users = messages.filter(({ sender }) => sender === 'user').map(({ content }) => content);
  const shown = status === 'processing' ? messages.slice(0, waitingFrom(messages)) : messages;
  const queued = messages.slice(shown.length).map(({ content }) => content);
  return { messages: joined(shown), queued, users };
}

/**
 * Where the waiting messages begin. The user messages at the end wait; but the first of them is being answered when
 * what stands before it is a finished answer: its last step is text that does not grow any more.
 */
function waitingFrom(messages: readonly ChatMessage[]): number {
  const last = messages.findLastIndex(({ sender }) => sender !== 'user');
  const before = messages[last];
  const isAnswering = before?.sender === 'agent' && (before.isStreaming || before.toolResult !== null);
  return Math.min(isAnswering ? last + 1 : last + 2, messages.length);
}

function joined(messages: readonly ChatMessage[]): ViewMessage[] {
  const result: { id: string; role: ViewMessage['role']; blocks: Block[] }[] = [];
  for (const message of messages) {
    const role = message.sender === 'agent' ? 'assistant' : message.sender;
    const last = result.at(-1);
    if (role === 'assistant' && last?.role === 'assistant') last.blocks.push(blockOf(message));
    else result.push({ id: String(result.length), role, blocks: [blockOf(message)] });
  }
  return result;
}

function blockOf({ content, toolResult }: ChatMessage): Block {
  if (toolResult === null) return { kind: 'text', text: content };
  const { name, result } = toolResult;
  return { kind: 'tool', callId: null, name, args: null, status: 'complete', progress: null, result };
}
