import { objectsIn, textOf, textsIn } from './json.js';
import type { ChatMessage, HistoryMessage, JsonObject, SessionState } from './types.js';
import { beginsTurn, isOfWallet } from './wallet-words.js';

/** Reads the messages of a response body, whose format is the same on both surfaces. */
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
  const [name = '', result = ''] = textsIn(pair);
  return { name, result };
}

/** The assistant's reply to a user message, joined into one text, and a failure reported by the service. */
export interface Reply {
  readonly text: string;
  /** The reason why the reply is incomplete. */
  readonly failure: string | undefined;
}

/** Returns the number of turns of messages, queued ones included. */
export function turnsIn(messages: readonly ChatMessage[]): number {
  return messages.filter(beginsTurn).length;
}

/**
 * Returns the number of turns that have certainly ended after a state: all, if none is running.
 * @param before the number before the state
 */
export function settledAfter({ status, messages }: SessionState, before: number): number {
  return status === 'processing' ? before : turnsIn(messages);
}

/**
 * Returns the number of the turn that a user message with this text begins; undefined if there is none. Of several, it
 * is the first one after a number of turns, otherwise the last one.
 */
export function ordinalOf(
  messages: readonly ChatMessage[],
  text: string,
  after = Infinity,
): number | undefined {
  const asked = messages
    .filter(beginsTurn)
    .map(({ sender, content }) => sender === 'user' && content === text);
  return asked.indexOf(true, after) + 1 || asked.lastIndexOf(true) + 1 || undefined;
}

/** True for a stored message that begins a turn. */
export function beginsStoredTurn({ role, content }: Pick<HistoryMessage, 'role' | 'content'>): boolean {
  return role !== 'assistant' && beginsTurn({ sender: role, content });
}

/**
 * Returns the number of a turn in a state; undefined if that cannot be told.
 * @param stored the last stored messages, read after the state
 */
export function ordinalOfTurn(
  turnId: string,
  messages: readonly ChatMessage[],
  stored: readonly HistoryMessage[],
): number | undefined {
  const last = messages.findLast(beginsTurn);
  const asked = stored.filter(beginsStoredTurn);
  const known = asked.findLastIndex(
    ({ createdAt, content }) => createdAt === last?.timestamp && content === last.content,
  );
  const index = asked.findIndex((message) => message.turnId === turnId);
  return known === -1 || index === -1 ? undefined : turnsIn(messages) + index - known;
}

/** Returns the index of the message that begins the turn with this number; -1 if there is none. */
function indexOfTurn(messages: readonly ChatMessage[], ordinal: number | undefined): number {
  let count = 0;
  return messages.findIndex((message) => beginsTurn(message) && ++count === ordinal);
}

/** Returns the assistant's text after a number of turns. */
export function textAfter(messages: readonly ChatMessage[], turns: number): string {
  const index = indexOfTurn(messages, turns + 1);
  return index === -1 ? '' : textOfAgent(messages.slice(index));
}

function textOfAgent(messages: readonly ChatMessage[]): string {
  return messages.map(({ sender, content }) => (sender === 'agent' ? content : '')).join('');
}

/** Returns the number of turns that have certainly ended in a state: those before its last reply, if one is running. */
export function endedIn({ status, messages }: SessionState): number {
  if (status !== 'processing') return turnsIn(messages);
  const last = messages.findLastIndex((message) => !beginsTurn(message));
  return Math.max(turnsIn(messages.slice(0, last + 1)) - 1, 0);
}

/**
 * Returns the index of the first queued message in the state of a running turn. The messages at the end that begin
 * turns are queued, except that the first of them is running if the message before them is a finished reply, whose last
 * step is text that no longer grows.
 * @param settled the number of turns that have certainly ended: a cancelled turn may look like an unfinished one
 */
export function queuedFrom(messages: readonly ChatMessage[], settled = 0): number {
  const last = messages.findLastIndex((message) => !beginsTurn(message));
  const before = messages[last];
  const guess = before !== undefined && isUnfinished(before) ? last + 1 : last + 2;
  return Math.min(Math.max(guess, indexOfTurn(messages, settled + 1) + 1), messages.length);
}

/** True for a message that the rest of a reply follows. */
function isUnfinished({ sender, content, isStreaming, toolResult }: ChatMessage): boolean {
  if (sender === 'agent') return isStreaming || toolResult !== null;
  // The verdict on a wallet request, which the assistant reads next.
  return sender === 'system' && isOfWallet(content);
}

/** Returns the reply of the turn with this number; undefined if the state lacks the turn's message. */
export function replyOf({ messages }: SessionState, ordinal: number | undefined): Reply | undefined {
  const index = indexOfTurn(messages, ordinal);
  if (index === -1) return undefined;
  const rest = messages.slice(index + 1);
  const end = rest.findIndex(beginsTurn);
  const own = end === -1 ? rest : rest.slice(0, end);
  return { text: textOfAgent(own), failure: own.findLast(isFailure)?.content };
}

/** Returns the error of the most recent failed turn. */
export function lastFailure({ messages }: SessionState): string | undefined {
  return messages.findLast(isFailure)?.content;
}

function isFailure({ sender, content }: ChatMessage): boolean {
  return sender === 'system' && !isOfWallet(content);
}
