import type { SessionState } from '../types.js';
import { isFirst } from './history.js';
import type { ViewMessage } from './view.js';

/**
 * Marks replies that were interrupted, and user messages that were cancelled before a reply began.
 * @param status the status of the session, whose last turn may be running or interrupted
 */
export function withFates(
  messages: readonly ViewMessage[],
  status: SessionState['status'],
): readonly ViewMessage[] {
  const last = messages.findLastIndex(isFirst);
  return messages.map((message, index) => {
    const isRunning = status === 'processing' && index >= last;
    const fate = isRunning
      ? undefined
      : fateOf(message, messages[index + 1], status === 'interrupted' && index >= last);
    if (fate === message.fate) return message;
    const { fate: _before, ...rest } = message;
    return fate === undefined ? rest : { ...rest, fate };
  });
}

function fateOf(
  { role, origin }: ViewMessage,
  next: ViewMessage | undefined,
  isInterrupted: boolean,
): ViewMessage['fate'] {
  if (role === 'assistant')
    return isInterrupted || origin?.turn.status === 'interrupted' ? 'interrupted' : undefined;
  return role === 'user' && (next === undefined || isFirst(next)) ? 'cancelled' : undefined;
}
