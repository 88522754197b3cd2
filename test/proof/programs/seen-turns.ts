import { UpdateEvent } from '../../chaos/shapes.js';

/** What a stream that is resumed again and again has shown. */
export class SeenTurns {
  /** The id of the last stored event. */
  cursor = 0;
  /** How many turns have ended. */
  ended = 0;
  /** True between the beginning and the end of a turn on the present stream. */
  isInTurn = false;
  #text = '';
  readonly #endedTurns = new Set<string>();

  constructor(
    private readonly session: string,
    private readonly fault: (detail: string) => void,
  ) {}

  /** A new stream repeats the text of the running turn from its beginning. */
  opened(): void {
    this.#text = '';
    this.isInTurn = false;
  }

  see(id: number | undefined, data: unknown): void {
    const parsed = UpdateEvent.safeParse(data);
    if (!parsed.success || parsed.data.session_id !== this.session) {
      this.fault(`showed ${JSON.stringify(data)}`);
      return;
    }
    const event = parsed.data;
    if (id !== undefined) {
      if (id !== this.cursor + 1) this.fault(`event ${String(id)} after ${String(this.cursor)}`);
      this.cursor = id;
    }
    switch (event.type) {
      case 'turn_started':
        this.isInTurn = true;
        this.#text = '';
        return;
      case 'text_delta':
        if (event.offset !== this.#text.length)
          this.fault(`text at ${String(event.offset)} after ${String(this.#text.length)} characters`);
        this.#text += event.content;
        return;
      case 'turn_ended':
        if (event.status !== 'complete' || this.#endedTurns.has(event.turn_id))
          this.fault(`showed ${JSON.stringify(event)}`);
        this.#endedTurns.add(event.turn_id);
        this.isInTurn = false;
        this.ended++;
        return;
      case 'gap':
        this.fault(`showed ${JSON.stringify(event)}`);
        return;
      default:
        return;
    }
  }

  /** Compares the text of the turn that has ended. */
  expectText(text: string): void {
    if (this.#text !== text)
      this.fault(`showed ${JSON.stringify(this.#text.slice(0, 200))} instead of ${text.slice(0, 50)}…`);
  }
}
