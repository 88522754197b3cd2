import type { EventBody } from '../model/event.js';
import { closeCalls, danglingCalls, type Message } from '../model/message.js';
import type { Clock } from '../ports/clock.js';
import type { Turn } from '../model/turn.js';

/** The messages and events that close a turn. */
export interface TurnRemainder {
  readonly messages: readonly Message[];
  readonly events: readonly EventBody[];
}

/**
 * Builds what closes a turn: results for its open calls, the text in flight as a message, and the error message of a
 * failure.
 * @param records the turn's messages so far, in order
 * @param text the published text of the step in flight
 * @param since when its first character was published, in milliseconds since the epoch; 0: unknown, then the creation
 * time of the turn is used
 * @param error the reason of a failure, for the user
 * @param words the result for calls that have none
 */
export function closeTurn(
  turn: Turn,
  records: readonly Message[],
  { text, since, error, words }: { text: string; since: number; error: string | null; words: string },
  clock: Clock,
): TurnRemainder {
  const messages: Message[] = [];
  const last = records.at(-1);
  const dangling = last === undefined ? [] : danglingCalls(last);
  if (last !== undefined && dangling.length > 0) messages.push(closeCalls(last, words, clock.now()));
  const events = dangling.map(({ callId, name, multiStep }): EventBody => ({
    type: 'tool_complete',
    callId,
    toolName: name,
    failed: true,
    result: words,
    ...(multiStep === true && { multiStep }),
  }));
  const position = (last?.position ?? -1) + 1;
  const record = (
    role: 'assistant' | 'system',
    content: string,
    place: number,
    createdAt: number,
  ): Message => ({
    id: clock.newId(),
    turnId: turn.id,
    turnNo: turn.no,
    position: place,
    role,
    content,
    toolCalls: null,
    toolResults: null,
    createdAt,
  });
  if (text !== '') messages.push(record('assistant', text, position, since || turn.createdAt));
  if (error !== null) messages.push(record('system', error, position + 1, clock.now()));
  return { messages, events };
}
