/** A stream event of a turn that was received but not processed yet. */
export interface UnreadFrame {
  readonly turnId: string;
  readonly type: 'turn_started' | 'turn_ended';
}

/** Returns an event about the start or the end of a turn; empty for other events. */
export function unreadFrame(turnId: string, type: string): readonly UnreadFrame[] {
  return type === 'turn_started' || type === 'turn_ended' ? [{ type, turnId }] : [];
}

/**
 * Returns the turns that a state shows as ended although events of the stream about them are still queued. Emitting
 * those events would repeat what the state shows.
 * @param open the turn that is being emitted
 * @param waiting the queued events of the stream, in order
 */
export function coveredTurns(
  isProcessing: boolean,
  open: string | undefined,
  waiting: readonly UnreadFrame[],
): ReadonlySet<string> {
  const turns = new Set(open === undefined ? [] : [open]);
  for (const { turnId } of waiting) turns.add(turnId);
  const ended = new Set(waiting.filter(({ type }) => type === 'turn_ended').map(({ turnId }) => turnId));
  const last = [...turns].at(-1);
  if (isProcessing && last !== undefined && !ended.has(last)) turns.delete(last);
  return turns;
}
