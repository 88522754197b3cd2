/** The text in flight: that of a running turn's unfinished step. */
export interface Flight {
  readonly turnId: string;
  readonly attempt: number;
  /** The position of the record that the text will belong to. */
  readonly position: number;
  readonly text: string;
  /**
   * The text that an earlier attempt checkpointed for this step, until this attempt has stored its own. Snapshots show
   * it, streams never do.
   */
  readonly leftover: string;
  /**
   * When the first character of `text`, or of `leftover`, was shown, in milliseconds since the epoch; 0: unknown.
   */
  readonly since: number;
}

/** The stored form: the text of the last checkpoint, and the attempt that wrote it. */
export interface StoredFlight extends Omit<Flight, 'text' | 'leftover'> {
  readonly partialText: string;
  readonly partialAttempt: number;
}

/** Text that another attempt stored becomes `leftover`. */
export function flightOf({ partialText, partialAttempt, ...flight }: StoredFlight): Flight {
  const isOwn = partialAttempt === flight.attempt;
  return { ...flight, text: isOwn ? partialText : '', leftover: isOwn ? '' : partialText };
}
