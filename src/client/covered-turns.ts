/** What a stream has told and was not heard yet, of one turn. */
export interface Untold {
  readonly turnId: string;
  readonly type: 'turn_started' | 'turn_ended';
}

/**
 * The turns of which a state that has just been read knows the end, though the stream's words on them are still to be
 * heard: these would repeat what the state shows.
 * @param open the turn that is being told
 * @param untold what the stream has told beyond, in order
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
