/** The text of a running turn's unfinished step. */
export interface Flight {
  readonly turnId: string;
  readonly attempt: number;
  /** Where the record will be that it belongs to. */
  readonly position: number;
  readonly text: string;
  /**
   * What an earlier attempt had of that step, where this one has stored nothing of it yet: polls show it meanwhile,
   * streams never.
   */
  readonly leftover: string;
  /**
   * When the first character of the text, or of what is left over, was shown, in milliseconds since the epoch; 0: not
   * known.
   */
  readonly since: number;
}

/** The same as it is stored: the text of the last checkpoint, and the attempt that made it. */
export interface StoredFlight extends Omit<Flight, 'text' | 'leftover'> {
  readonly partialText: string;
  readonly partialAttempt: number;
}

/** What another attempt has stored is left over. */
export function flightOf({ partialText, partialAttempt, ...flight }: StoredFlight): Flight {
  const isOwn = partialAttempt === flight.attempt;
  return { ...flight, text: isOwn ? partialText : '', leftover: isOwn ? '' : partialText };
}
