import type { SessionEvent, ToolProgress } from '../../client/index.js';
import { colourful, printable, styled, type Terminal } from '../terminal.js';

/** How much of arguments and results is shown. */
const LINE = 200;

/** Shows a conversation. Answers go to the output; what is said about them goes there on a terminal, else to stderr. */
export class Display {
  readonly #isTerminal: boolean;
  /** True while the last line of the output is not ended. */
  #open = false;
  #turn = '';
  /** The answer's text so far, as shown. */
  #shown = '';
  /** The same as it is told; behind `#shown` while it is told again from its beginning. */
  #told = '';
  #isLost = false;

  constructor(private readonly terminal: Terminal) {
    this.#isTerminal = terminal.output.isTTY === true;
  }

  /** What happened. */
  show(event: SessionEvent): void {
    switch (event.type) {
      case 'turn_started':
        this.#begin(event.turnId);
        return;
      case 'text':
        this.#told += event.content;
        this.#catchUp();
        return;
      case 'tool':
        this.#tool(event);
        return;
      case 'notice':
        this.aside(`· ${event.message}`);
        return;
      case 'connection':
        this.#connection(event.state);
        return;
      case 'turn_ended':
        this.end();
        if (event.status === 'interrupted') this.aside('(interrupted)');
        if (event.status === 'failed')
          this.fault(event.error ?? 'The assistant could not finish its answer.');
        return;
      case 'state':
      case 'title':
        return;
    }
    event satisfies never;
  }

  /** Ends the line of the answer. */
  end(): void {
    if (this.#open) this.terminal.output.write('\n');
    this.#open = false;
  }

  /** Something about the conversation. */
  aside(text: string): void {
    this.#line(text, 'dim');
  }

  /** What went wrong. */
  fault(text: string): void {
    this.#line(`! ${text}`, 'red');
  }

  #line(text: string, style: 'dim' | 'red'): void {
    const { output, errors } = this.terminal;
    if (this.#isTerminal) this.end();
    const stream = this.#isTerminal ? output : errors;
    stream.write(`${styled(style, printable(text), colourful(this.terminal, stream))}\n`);
  }

  #begin(turnId: string): void {
    this.#told = '';
    if (turnId === this.#turn) return;
    this.end();
    this.#turn = turnId;
    this.#shown = '';
  }

  #connection(state: 'open' | 'lost'): void {
    if (state === 'lost') this.aside('(The connection is lost; trying again)');
    else if (this.#isLost) this.aside('(Connected again)');
    this.#isLost = state === 'lost';
  }

  #tool({ name, status, args, message, result }: ToolProgress): void {
    if (status !== 'running') {
      this.aside(`← ${name}${status === 'failed' ? ' failed:' : ''} ${shortened(result ?? '')}`);
    } else if (message !== undefined) this.aside(`… ${name} ${shortened(message)}`);
    else this.aside(`→ ${name}${args === undefined ? '' : ` ${shortened(JSON.stringify(args))}`}`);
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

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > LINE ? `${line.slice(0, LINE)}…` : line;
}
