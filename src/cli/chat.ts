import { createInterface, type Interface } from 'node:readline';
import { Command, Option } from 'commander';
import { validate } from 'uuid';
import { createClient, type Client, type ClientOptions } from '../client/index.js';
import { isWebUrl } from '../config/settings.js';
import { DEFAULT_APP } from '../core/model/app.js';
import { commandIn, type ChatRoom } from './chat/commands.js';
import { Display } from './chat/display.js';
import { History, HISTORY_LINES } from './chat/history.js';
import { CommandError, INTERRUPTED, type Terminal } from './terminal.js';

interface Flags {
  readonly url?: string;
  readonly surface: 'current' | 'legacy';
  readonly app: string;
  readonly session?: string;
  readonly key?: string;
  readonly history: boolean;
}

/** `chat`: a terminal chat. */
export function chatCommand(terminal: Terminal): Command {
  return new Command('chat')
    .description('chat with a running service; piped lines are sent one by one')
    .option('--url <url>', 'URL of the service (default: this machine, at PORT or 8080)')
    .addOption(
      new Option('--surface <name>', 'the API to use').choices(['current', 'legacy']).default('current'),
    )
    .option('--app <name>', 'the App to talk to', DEFAULT_APP)
    .option('--session <uuid>', 'the session to continue (default: a new one)')
    .option('--key <key>', "the App's key; prefer DIPTYCH_APP_KEY, which process lists do not show")
    .option('--no-history', 'do not read or write the input history (XDG_STATE_HOME/diptych/history)')
    .addHelpText(
      'after',
      '\nOn a terminal: Ctrl-C interrupts the reply, Ctrl-D exits, the arrow keys recall previous lines, /help lists commands.',
    )
    .action((flags: Flags) => chat(terminal, flags));
}

async function chat(terminal: Terminal, flags: Flags): Promise<void> {
  const options = clientOptions(terminal, flags);
  const talk = new Talk(terminal, options);
  try {
    // Fails immediately when the service is unreachable. After that, the client reconnects.
    await talk.client().state();
    await talk.run(flags.history);
  } finally {
    talk.client().close();
  }
}

function clientOptions(terminal: Terminal, flags: Flags): ClientOptions {
  const { session, surface, app } = flags;
  if (session !== undefined && !validate(session)) throw new CommandError('--session takes a UUID', 2);
  const url = flags.url ?? `http://127.0.0.1:${terminal.env.PORT ?? '8080'}`;
  if (!isWebUrl(url)) throw new CommandError('--url takes an http or https URL', 2);
  const key = flags.key ?? terminal.env.DIPTYCH_APP_KEY;
  return {
    ...{ url, surface, app },
    ...(session !== undefined && { sessionId: session }),
    ...(key !== undefined && { key }),
  };
}

/** Reads lines and sends them to the service, until the input ends or the user exits. */
class Talk implements ChatRoom {
  readonly display: Display;
  readonly #isTerminal: boolean;
  #client: Client;
  #isLeaving = false;
  /** Aborts the display of the reply in progress. */
  #answer: AbortController | undefined;
  #isInterrupting = false;

  constructor(
    private readonly terminal: Terminal,
    private readonly options: ClientOptions,
  ) {
    this.display = new Display(terminal);
    this.#isTerminal = terminal.input.isTTY === true && terminal.output.isTTY === true;
    this.#client = createClient(options);
  }

  readonly client = (): Client => this.#client;

  readonly leave = (): void => {
    this.#isLeaving = true;
  };

  renew(): void {
    this.#client.close();
    const { sessionId: _, ...rest } = this.options;
    this.#client = createClient(rest);
  }

  async run(withHistory: boolean): Promise<void> {
    const history = await History.open(this.terminal, withHistory && this.#isTerminal);
    const lines = this.#open(history);
    const release = this.#handleKeys(lines);
    try {
      if (this.#isTerminal) lines.prompt();
      for await (const line of lines) {
        await history.add(line);
        if (line.trim() !== '') await this.#handleLine(line);
        if (this.#isLeaving) break;
        if (this.#isTerminal) lines.prompt();
      }
    } finally {
      release();
      lines.close();
    }
  }

  #open(history: History): Interface {
    const { input, output } = this.terminal;
    if (!this.#isTerminal) return createInterface({ input, crlfDelay: Infinity });
    const { sessionId } = this.#client;
    this.display.aside(`Session ${sessionId}. Ctrl-C interrupts, Ctrl-D exits, /help shows more.`);
    const recalled = {
      history: [...history.lines],
      historySize: HISTORY_LINES,
      removeHistoryDuplicates: true,
    };
    return createInterface({ input, output, prompt: '> ', ...recalled });
  }

  async #handleLine(line: string): Promise<void> {
    const command = this.#isTerminal ? commandIn(line) : undefined;
    try {
      if (command !== undefined) await command(this);
      else if ((await this.#ask(line)) === 'failed' && !this.#isTerminal) this.terminal.setExitCode(1);
    } catch (error) {
      if (this.#isLeaving) return;
      // On a terminal the user sees the error and continues; a script needs the exit code.
      if (!this.#isTerminal) throw error;
      this.display.fault(error instanceof Error ? error.message : String(error));
    }
  }

  async #ask(text: string): Promise<string> {
    this.#answer = new AbortController();
    this.#isInterrupting = false;
    let ended = 'complete';
    try {
      for await (const event of this.#client.ask(text, { signal: this.#answer.signal })) {
        this.display.show(event);
        if (event.type === 'turn_ended') ended = event.status;
      }
    } finally {
      this.#answer = undefined;
      this.display.end();
    }
    return ended;
  }

  /** Handles Ctrl-C and Ctrl-D. Returns the function that removes the handlers. */
  #handleKeys(lines: Interface): () => void {
    const onInterrupt = (): void => {
      this.#onCtrlC(lines);
    };
    // Ctrl-D also ends the chat during a reply, which the service still completes.
    const onClose = (): void => {
      this.#isLeaving = true;
      this.#answer?.abort();
    };
    if (!this.#isTerminal) return this.terminal.onInterrupt(onInterrupt);
    // On a terminal, readline intercepts Ctrl-C.
    lines.on('SIGINT', onInterrupt).on('close', onClose);
    return () => lines.off('SIGINT', onInterrupt).off('close', onClose);
  }

  /**
   * Handles Ctrl-C. The first one interrupts the reply in progress. Without a reply, it shows a hint on a terminal.
   * Otherwise it exits.
   */
  #onCtrlC(lines: Interface): void {
    if (this.#answer !== undefined && !this.#isInterrupting) {
      this.#isInterrupting = true;
      this.#client.interrupt().catch((error: unknown) => {
        this.display.fault(error instanceof Error ? error.message : String(error));
      });
    } else if (this.#isTerminal && this.#answer === undefined) {
      this.display.aside('\n(Ctrl-D exits)');
      lines.prompt();
    } else {
      this.#isLeaving = true;
      this.terminal.setExitCode(INTERRUPTED);
      this.#answer?.abort();
      lines.close();
    }
  }
}
