import { printable, type Terminal } from '../terminal.js';

/** Shows a conversation. Answers go to the output; what is said about them goes there on a terminal, else to stderr. */
export class Display {
  readonly #asides: NodeJS.WritableStream;
  readonly #dim: boolean;
  /** True while the last line of the output is not ended. */
  #open = false;
  /** The answer's text so far, as shown. */
  #shown = '';
  /** The same as the stream tells it; behind `#shown` while a stream begins anew. */
  #told = '';

  constructor(private readonly terminal: Terminal) {
    this.#dim = terminal.output.isTTY === true;
    this.#asides = this.#dim ? terminal.output : terminal.errors;
  }

  /** A new answer begins. */
  begin(): void {
    this.#shown = '';
    this.#told = '';
  }

  /** The stream tells the answer from its beginning again: what was shown is not shown twice. */
  again(): void {
    this.#told = '';
  }

  /** More of the answer. */
  text(content: string): void {
    this.#told += content;
    this.#catchUp();
  }

  /** The whole answer, as it was kept. */
  whole(content: string): void {
    this.#told = content;
    this.#catchUp();
  }

  hasText(): boolean {
    return this.#shown !== '';
  }

  /** Ends the line of the answer. */
  end(): void {
    if (this.#open) this.terminal.output.write('\n');
    this.#open = false;
  }

  /** Something about the conversation: a tool, a notice. */
  aside(text: string): void {
    if (this.#dim) this.end();
    const line = printable(text);
    this.#asides.write(this.#dim ? `\x1b[2m${line}\x1b[0m\n` : `${line}\n`);
  }

  #catchUp(): void {
    if (this.#shown.startsWith(this.#told)) return;
    if (this.#told.startsWith(this.#shown)) this.#write(this.#told.slice(this.#shown.length));
    else {
      // The answer was made anew after a crash.
      this.end();
      this.#write(this.#told);
    }
    this.#shown = this.#told;
  }

  #write(text: string): void {
    this.terminal.output.write(printable(text, { lines: true }));
    this.#open = !text.endsWith('\n');
  }
}

/** A tool's result in a line. */
export function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}
