import type { ChatMessage, SessionState } from '../types.js';
import { queuedFrom, turnsIn } from '../messages.js';
import { isFirst } from './history.js';
import type { Block, ViewMessage } from './view.js';

/** The thread in a state. */
export interface Stated {
  readonly messages: readonly ViewMessage[];
  /** The texts of queued messages. */
  readonly queued: readonly string[];
  readonly users: readonly string[];
  /** The number of turns up to and including the last or running one. */
  readonly turns: number;
}

/**
 * Reads the thread of a state: joins the steps of each reply, and separates the queued messages.
 * @param settled the number of turns that have certainly ended
 */
export function readState({ messages, status }: SessionState, settled: number): Stated {
  const users = messages.filter(({ sender }) => sender === 'user').map(({ content }) => content);
  const shown = status === 'processing' ? messages.slice(0, queuedFrom(messages, settled)) : messages;
  // The report of a wallet is shown once its turn begins.
  const waiting = messages.slice(shown.length).filter(({ sender }) => sender === 'user');
  const queued = waiting.map(({ content }) => content);
  return { messages: joined(shown), queued, users, turns: turnsIn(shown) };
}

/** Returns the number of turns that messages have begun. */
export function turnsOf(messages: readonly ViewMessage[]): number {
  return messages.filter(isFirst).length;
}

function joined(messages: readonly ChatMessage[]): ViewMessage[] {
  const result: { id: string; role: ViewMessage['role']; blocks: Block[]; at: string }[] = [];
  for (const message of messages) {
    const role = message.sender === 'agent' ? 'assistant' : message.sender;
    const last = result.at(-1);
    if (role === 'assistant' && last?.role === 'assistant') last.blocks.push(blockOf(message));
    else result.push({ id: String(result.length), role, blocks: [blockOf(message)], at: message.timestamp });
  }
  return result;
}

function blockOf({ content, toolResult }: ChatMessage): Block {
  if (toolResult === null) return { kind: 'text', text: content };
  const { name, result } = toolResult;
  return { kind: 'tool', callId: null, name, args: null, status: 'complete', progress: null, result };
}
