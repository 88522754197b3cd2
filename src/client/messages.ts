import { objectsIn, textOf } from './json.js';
import type { ChatMessage, JsonObject, SessionState } from './types.js';

/** The messages of a body, which both surfaces spell alike. */
export function messagesOf(body: JsonObject): readonly ChatMessage[] {
  return objectsIn(body.messages).map((message) => ({
    sender: senderOf(textOf(message, 'sender')),
    content: textOf(message, 'content'),
    timestamp: textOf(message, 'timestamp'),
    isStreaming: message.is_streaming === true,
    toolResult: toolResultOf(message),
  }));
}

function senderOf(name: string): ChatMessage['sender'] {
  return name === 'user' || name === 'system' ? name : 'agent';
}

function toolResultOf({ tool_result: pair }: JsonObject): ChatMessage['toolResult'] {
  if (!Array.isArray(pair)) return null;
  const [name, result] = pair;
  return { name: typeof name === 'string' ? name : '', result: typeof result === 'string' ? result : '' };
}

/** What the assistant has said since the user message at `index`, in one piece, and what the service says of it. */
export interface Reply {
  readonly text: string;
  /** Why there is no more of it. */
  readonly failure: string | undefined;
  /** Whether there is anything: text, a tool's outcome, a failure. */
  readonly hasBegun: boolean;
}

/** The reply to the last message with this text; undefined when there is no such message. */
export function replyTo({ messages }: SessionState, text: string): Reply | undefined {
  const index = messages.findLastIndex(({ sender, content }) => sender === 'user' && content === text);
  return index === -1 ? undefined : replyAt(messages, index);
}

function replyAt(messages: readonly ChatMessage[], index: number): Reply {
  const rest = messages.slice(index + 1);
  const end = rest.findIndex(({ sender }) => sender === 'user');
  const own = end === -1 ? rest : rest.slice(0, end);
  const said = own.filter(({ sender }) => sender === 'agent').map(({ content }) => content);
  const failure = own.findLast(({ sender }) => sender === 'system')?.content;
  return { text: said.join(''), failure, hasBegun: own.length > 0 };
}

/**
 * What a state has of the text of the turn that runs. Behind it there may be queued messages; before it there may be
 * the answer of an ended turn, when the running one has said nothing yet.
 */
export function textInFlight({ status, messages }: SessionState): string {
  if (status !== 'processing') return '';
  const last = messages.findLastIndex(({ sender }) => sender !== 'user');
  if (last === -1) return '';
  const isOpen =
    last === messages.length - 1 ||
    messages.some(({ isStreaming }) => isStreaming) ||
    messages[last]?.toolResult !== null;
  if (!isOpen) return '';
  const asked = messages.findLastIndex(({ sender }, index) => sender === 'user' && index < last);
  return replyAt(messages, asked).text;
}

/** Why the newest turn that failed did. */
export function lastFailure({ messages }: SessionState): string | undefined {
  return messages.findLast(({ sender }) => sender === 'system')?.content;
}
