import type { HistoryMessage, HistoryPage, HistoryTurn, HistoryCall, SessionState } from '../types.js';
import { beginsTurn } from '../wallet-words.js';
import { countUnknown } from './tools.js';
import type { Origin, View, ViewMessage } from './view.js';

/** Returns the known history with a page of its end, which may have changed since. */
export function mergedHistory(before: HistoryPage | null, page: HistoryPage): HistoryPage {
  const [first] = page.messages;
  const from = before?.messages.findIndex(({ id }) => id === first?.id) ?? -1;
  if (before === null || from === -1) return page;
  const renewed = new Set(page.turns.map(({ turnId }) => turnId));
  return {
    messages: [...before.messages.slice(0, from), ...page.messages],
    turns: [...before.turns.filter(({ turnId }) => !renewed.has(turnId)), ...page.turns],
    hasMore: before.hasMore,
  };
}

/** Returns the tool calls of a history. */
export function callsOf(history: HistoryPage): readonly HistoryCall[] {
  return history.messages.flatMap(({ toolCalls }) => toolCalls);
}

/** The stored turn of a message that begins one. */
interface StoredTurn {
  readonly first: HistoryMessage;
  /** The first record of the reply. */
  readonly reply: HistoryMessage | undefined;
  /** The time of the first record of the reply that has text; null: none has. */
  readonly spokenAt: string | null;
  readonly turn: HistoryTurn;
}

/**
 * Adds to messages where they are stored and how their turns went. Matches the messages that begin turns by their text,
 * from the end, because the history may lack turns at its beginning.
 * @param status if it is `processing`, the last of these turns is running: it is none of the stored ones that ended
 */
export function withOrigins(
  messages: readonly ViewMessage[],
  history: HistoryPage | null,
  status: SessionState['status'],
): readonly ViewMessage[] {
  if (history === null) return messages;
  const stored = storedTurns(history);
  const running = status === 'processing' ? messages.findLast(isFirst) : undefined;
  let next = stored.length - 1;
  const found = new Map<ViewMessage, StoredTurn>();
  for (const message of messages.toReversed()) {
    if (!isFirst(message)) continue;
    const text = textOf(message);
    for (let index = next; index >= 0; index--) {
      const candidate = stored[index];
      if (candidate?.first.content !== text || (message === running && candidate.turn.endedAt !== null))
        continue;
      found.set(message, candidate);
      next = index - 1;
      break;
    }
  }
  let current: StoredTurn | undefined;
  return messages.map((message) => {
    if (isFirst(message)) current = found.get(message);
    const record = isFirst(message) ? current?.first : current?.reply;
    const isOfTurn = message.role !== 'system' || isFirst(message);
    const origin: Origin | undefined =
      isOfTurn && current !== undefined && record !== undefined
        ? { messageId: record.id, turn: current.turn, spokenAt: current.spokenAt }
        : undefined;
    return isSameOrigin(message.origin, origin) ? message : { ...message, origin };
  });
}

function storedTurns({ messages, turns }: HistoryPage): readonly StoredTurn[] {
  const byId = new Map(turns.map((turn) => [turn.turnId, turn]));
  const result = new Map<string, StoredTurn>();
  for (const message of messages) {
    const turn = byId.get(message.turnId);
    const known = result.get(message.turnId);
    // The first records of a page may be the rest of a turn.
    if (turn === undefined || turn.status === 'queued') continue;
    if (known === undefined && message.role !== 'assistant')
      result.set(message.turnId, { first: message, reply: undefined, spokenAt: null, turn });
    else if (known !== undefined && message.role === 'assistant') {
      const { reply = message, spokenAt } = known;
      const textAt = message.content === '' ? null : message.createdAt;
      result.set(message.turnId, { ...known, reply, spokenAt: spokenAt ?? textAt });
    }
  }
  return [...result.values()];
}

/**
 * Returns how many of a thread's first turns have ended; 0 if the history lacks the beginning of the thread.
 * @param running the id of a turn whose end was not reported yet: it is not counted
 */
export function endedTurns({ messages, turns, hasMore }: HistoryPage, running: string | null): number {
  const ended = turns.filter(({ turnId, endedAt }) => endedAt !== null && turnId !== running);
  const ids = new Set(ended.map(({ turnId }) => turnId));
  const begun = hasMore ? [] : [...new Set(messages.map(({ turnId }) => turnId))];
  const open = begun.findIndex((turnId) => !ids.has(turnId));
  return open === -1 ? begun.length : open;
}

/** True if both say the same. */
export function isSameOrigin(one: Origin | undefined, other: Origin | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return (
    one.messageId === other.messageId &&
    one.spokenAt === other.spokenAt &&
    one.turn.status === other.turn.status &&
    one.turn.endedAt === other.turn.endedAt
  );
}

/** Returns how much of what a view shows is not known without the history. */
export function countMissing({ messages, turn }: View): number {
  const firsts = messages.filter(isFirst);
  const ended = turn === null ? firsts : firsts.slice(0, -1);
  const missing = ended.filter(({ origin }) => origin === undefined || origin.turn.endedAt === null);
  return countUnknown(messages) + missing.length;
}

/** True for a message that begins a turn. */
export function isFirst(message: ViewMessage): boolean {
  return message.role !== 'assistant' && beginsTurn({ sender: message.role, content: textOf(message) });
}

/** Returns the text of a message, without its tool calls. */
export function textOf({ blocks }: ViewMessage): string {
  return blocks.map((block) => (block.kind === 'text' ? block.text : '')).join('');
}
