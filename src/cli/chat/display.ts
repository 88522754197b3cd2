import type { SessionEvent, ToolProgress } from '../../client/index.js';
import { visibleLine, withoutStacks } from '../../client/visible-text.js';
import { colourful, printable, styled, type Terminal } from '../terminal.js';

/** Maximum length of shown arguments and results, in characters. */
const LINE = 200;

/** Shows a conversation. Replies go to stdout. Notes about them go to stdout on a terminal, otherwise to stderr. */
export class Display {
  readonly #isTerminal: boolean;
  /** True while the output ends without a line break. */
  #open = false;
  #turn = '';
  /** The text of the reply that has been written. */
  #shown = '';
  /** The text of the reply that has been received; shorter than `#shown` while the stream replays it. */
  #received = '';
  #isLost = false;

  constructor(private readonly terminal: Terminal) {
    this.#isTerminal = terminal.output.isTTY === true;
  }

  /** Shows an event of the session. */
  show(event: SessionEvent): void {
    switch (event.type) {
      case 'turn_started':
        this.#begin(event.turnId);
        return;
      case 'text':
        this.#received += event.content;
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
        if (event.status === 'failed') this.fault(event.error ?? 'The assistant could not finish its reply.');
        return;
      case 'state':
      case 'title':
        return;
    }
    event satisfies never;
  }

  /** Ends the current line of the reply. */
  end(): void {
    if (this.#open) this.terminal.output.write('\n');
    this.#open = false;
  }

  /** Shows a note about the conversation. */
  aside(text: string): void {
    this.#line(text, 'dim');
  }

  /** Shows an error. */
  fault(text: string): void {
    this.#line(`! ${text}`, 'red');
  }

  #line(text: string, style: 'dim' | 'red'): void {
    const { output, errors } = this.terminal;
    if (this.#isTerminal) this.end();
    const stream = this.#isTerminal ? output : errors;
    const line = withoutStacks(printable(text));
    stream.write(`${styled(style, line, colourful(this.terminal, stream))}\n`);
  }

  #begin(turnId: string): void {
    this.#received = '';
    if (turnId === this.#turn) return;
    this.end();
    this.#turn = turnId;
    this.#shown = '';
  }

  #connection(state: 'open' | 'lost'): void {
    if (state === 'lost') this.aside('(Connection lost; reconnecting)');
    else if (this.#isLost) this.aside('(Reconnected)');
    this.#isLost = state === 'lost';
  }

  #tool({ name: given, status, args, message, result }: ToolProgress): void {
    const name = shortened(given);
    if (status !== 'running') {
      this.aside(`← ${name}${status === 'failed' ? ' failed:' : ''} ${shortened(result ?? '')}`);
    } else if (message !== undefined) this.aside(`… ${name} ${shortened(message)}`);
    else this.aside(`→ ${name}${args === undefined ? '' : ` ${shortened(JSON.stringify(args))}`}`);
  }

  #catchUp(): void {
    if (this.#shown.startsWith(this.#received)) return;
    if (this.#received.startsWith(this.#shown)) this.#write(this.#received.slice(this.#shown.length));
    else {
      // The service generated the reply again after a crash.
      this.end();
      this.#shown = '';
      this.#write(this.#received);
    }
    this.#shown = this.#received;
  }

  #write(text: string): void {
    const shown = printable(text, { lines: true });
    // Unchanged when piped: the escapes are for people.
    this.terminal.output.write(this.#isTerminal ? withoutStacks(shown, this.#shown) : shown);
    this.#open = !text.endsWith('\n');
  }
}

function shortened(text: string): string {
  return visibleLine(text.replaceAll(/\s+/g, ' '), LINE);
}
