import type { ChatMessage, SessionEvent, SessionState } from '../../src/client/types.js';

export function message(
  sender: ChatMessage['sender'],
  content: string,
  more: Partial<ChatMessage> = {},
): ChatMessage {
  return {
    sender,
    content,
    timestamp: '2026-01-01T00:00:00.000Z',
    isStreaming: false,
    toolResult: null,
    ...more,
  };
}

export const user = (text: string): ChatMessage => message('user', text);
export const agent = (text: string): ChatMessage => message('agent', text);
export const streaming = (text: string): ChatMessage => message('agent', text, { isStreaming: true });
export const outcome = (name: string, result: string): ChatMessage =>
  message('agent', '', { toolResult: { name, result } });

/** The event of a state with these messages. */
export function state(
  status: SessionState['status'],
  ...messages: readonly ChatMessage[]
): Extract<SessionEvent, { type: 'state' }> {
  return { type: 'state', state: { title: 'T', status, messages, userState: null, errors: [], raw: {} } };
}
