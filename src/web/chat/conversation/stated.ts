import type { ChatMessage, SessionState } from '../../../client/types.js';
import type { Block, ViewMessage } from './view.js';

/** The thread in a state. */
export interface Stated {
  readonly messages: readonly ViewMessage[];
  /** The texts of queued messages. */
  readonly queued: readonly string[];
  readonly users: readonly string[];
}

/** Reads the thread of a state: joins the steps of each reply, and separates the queued messages. */
export function readState({ messages, status }: SessionState): Stated {
  const users = messages.filter(({ sender }) => sender === 'user').map(({ content }) => content);
  const shown = status === 'processing' ? messages.slice(0, waitingFrom(messages)) : messages;
  const queued = messages.slice(shown.length).map(({ content }) => content);
  return { messages: joined(shown), queued, users };
}

/**
 * Returns the index of the first queued message. User messages at the end are queued, except that the first of them is
 * running if the message before them is a finished reply, whose last step is text that no longer grows.
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
