import type { Message } from '../model/message.js';
import type { Bus } from '../ports/bus.js';
import type { CachedSession } from '../sessions/cached-session.js';
import type { RunningTurn } from './running-turn.js';
import type { Ending } from './turn-loop.js';

/** Publishes the start of an attempt at a turn, which continues with the stored messages of its thread. */
export function announceStart(bus: Bus, running: RunningTurn, thread: CachedSession): void {
  const { turn } = running;
  const open = thread.findOpen(turn.id);
  if (open !== undefined) {
    open.turn = turn;
    for (const message of open.messages) running.put(message);
  }
  const { id: turnId, attempt, sessionId } = turn;
  bus.publish(sessionId, { type: 'turn_started', turnId, attempt });
}

/** Publishes the end of a turn, and the results of its last messages that were not published before. */
export function announceEnd(
  bus: Bus,
  running: RunningTurn,
  messages: readonly Message[],
  { outcome, error }: Pick<Ending, 'outcome' | 'error'>,
): void {
  const { sessionId, id: turnId } = running.turn;
  const published = new Set(
    running.messages.flatMap(({ toolResults }) => toolResults?.map(({ callId }) => callId) ?? []),
  );
  for (const result of messages.flatMap(({ toolResults }) => toolResults ?? [])) {
    if (!published.has(result.callId)) bus.publish(sessionId, { type: 'tool_returned', turnId, result });
  }
  bus.publish(sessionId, { type: 'turn_ended', turnId, outcome, error });
}
