/** A stream event of a turn that was received but not processed yet. */
export interface Untold {
  readonly turnId: string;
  readonly type: 'turn_started' | 'turn_ended';
}

/**
 * Returns the turns that a state shows as ended although events of the stream about them are still queued. Emitting
 * those events would repeat what the state shows.
 * @param open the turn that is being emitted
 * @param untold the queued events of the stream, in order
 */
export function coveredTurns(
  isProcessing: boolean,
  open: string | undefined,
  untold: readonly Untold[],
): ReadonlySet<string> {
  const turns = new Set(open === undefined ? [] : [open]);
  for (const { turnId } of untold) turns.add(turnId);
  const ended = new Set(untold.filter(({ type }) => type === 'turn_ended').map(({ turnId }) => turnId));
  const last = [...turns].at(-1);
  if (isProcessing && last !== undefined && !ended.has(last)) turns.delete(last);
  return turns;
}
