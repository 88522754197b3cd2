import { createInterface, type Interface } from 'node:readline';
import { Command, Option } from 'commander';
import { validate } from 'uuid';
import {
  ClientError,
  createClient,
  type Client,
  type ClientOptions,
  type WalletReport,
} from '../client/index.js';
import { isWebUrl } from '../config/settings.js';
import { DEFAULT_APP } from '../core/model/app.js';
import { isEvmAddress } from '../core/model/session.js';
import { commandIn, type ChatRoom } from './chat/commands.js';
import { Display } from './chat/display.js';
import { failureWords } from './chat/failure-words.js';
import { History, HISTORY_LINES } from './chat/history.js';
import { reportOutcome } from './chat/report-outcome.js';
import { asksWallet, showPending, TX_HINT } from './chat/wallet-commands.js';
import { readVersion } from '../version.js';
import { CommandError, INTERRUPTED, type Terminal } from './terminal.js';

interface Flags {
  readonly url?: string;
  readonly surface: 'current' | 'legacy';
  readonly app: string;
  readonly session?: string;
  readonly wallet?: string;
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
    .option('--wallet <address>', 'the wallet of the session, which the assistant may ask to sign')
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
  if (flags.wallet !== undefined) await checkWallet(flags.wallet);
  const talk = new Talk(terminal, options, flags.wallet);
  try {
    await talk.begin(flags.session !== undefined);
    await talk.run(flags.history);
  } catch (error) {
    throw error instanceof ClientError ? new CommandError(failureWords(error), 1, { cause: error }) : error;
  } finally {
    talk.close();
  }
}

function clientOptions(terminal: Terminal, flags: Flags): ClientOptions {
  const { session, surface, app } = flags;
  if (session !== undefined && !validate(session)) throw new CommandError('--session takes a UUID', 2);
  const port = (terminal.env.PORT ?? '').trim() || '8080';
  const url = flags.url ?? `http://127.0.0.1:${port}`;
  if (!isWebUrl(url)) throw new CommandError('--url takes an http or https URL', 2);
  const key = flags.key ?? terminal.env.DIPTYCH_APP_KEY;
  if (app !== DEFAULT_APP && (key ?? '').trim() === '')
    throw new CommandError(`--app ${app} needs the key of the App: set DIPTYCH_APP_KEY`, 2);
  return {
    ...{ url, surface, app, fetch: fetchAs(`diptych-chat/${readVersion()}`) },
    ...(session !== undefined && { sessionId: session }),
    ...(key !== undefined && { key }),
  };
}

/** Returns `fetch` with a name for the report on the legacy surface, which would say `node`. */
function fetchAs(userAgent: string): typeof fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('User-Agent', userAgent);
    return fetch(input, { ...init, headers });
  };
}

/** @throws CommandError for a value that begins as an address of Ethereum and is none. Other wallets have any form. */
async function checkWallet(wallet: string): Promise<void> {
  if (!/^0x/i.test(wallet)) return;
  if (!isEvmAddress(wallet)) throw new CommandError('--wallet takes an address: 0x and 40 hex digits', 2);
  if (wallet === wallet.toLowerCase()) return;
  const { literalAddress } = await import('../adapters/tools/evm/lookups/addresses.js');
  try {
    literalAddress(wallet);
  } catch (error) {
    throw new CommandError(`--wallet: ${error instanceof Error ? error.message : String(error)}`, 2);
  }
}

/** Reads lines and sends them to the service, until the input ends or the user exits. */
class Talk implements ChatRoom {
  readonly display: Display;
  readonly #isTerminal: boolean;
  #client: Client;
  #wallet: Client | undefined;
  #isLeaving = false;
  /** Aborts the display of the reply in progress. */
  #answer: AbortController | undefined;
  #isInterrupting = false;

  constructor(
    private readonly terminal: Terminal,
    private readonly options: ClientOptions,
    /** The wallet to bind each session to. */
    private readonly address: string | undefined,
  ) {
    this.display = new Display(terminal);
    this.#isTerminal = terminal.input.isTTY === true && terminal.output.isTTY === true;
    this.#client = createClient(options);
  }

  readonly client = (): Client => this.#client;

  readonly leave = (): void => {
    this.#isLeaving = true;
  };

  readonly wallet = (): Client => {
    if (this.#client.surface === 'current') return this.#client;
    const { sessionId } = this.#client;
    return (this.#wallet ??= createClient({ ...this.options, surface: 'current', sessionId }));
  };

  /**
   * Checks that the service is reachable, and binds the wallet.
   * @param isKnown the session may have requests that wait for the wallet
   * @throws ClientError. Later, the client reconnects by itself.
   */
  async begin(isKnown: boolean): Promise<void> {
    if (this.address === undefined) await this.#client.state();
    else await this.wallet().create(this.address);
    if (isKnown) await this.#showPending();
  }

  async renew(): Promise<void> {
    this.close();
    const { sessionId: _, ...rest } = this.options;
    this.#client = createClient(rest);
    this.#wallet = undefined;
    if (this.address !== undefined) await this.wallet().create(this.address);
  }

  close(): void {
    this.#client.close();
    this.#wallet?.close();
  }

  report(report: WalletReport): Promise<void> {
    return this.#reply((signal) => reportOutcome(this.wallet(), report, { display: this.display, signal }));
  }

  async run(withHistory: boolean): Promise<void> {
    const history = await History.open(this.terminal, withHistory && this.#isTerminal);
    const lines = this.#open(history);
    const release = this.#handleEndings(lines);
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
      // The output may have been lost while this line was waiting.
      else if (!this.#isLeaving && (await this.#ask(line)) === 'failed' && !this.#isTerminal)
        this.terminal.setExitCode(1);
    } catch (error) {
      if (this.#isLeaving) return;
      // On a terminal the user sees the error and continues; a script needs the exit code.
      if (!this.#isTerminal) throw error;
      this.display.fault(failureWords(error));
    }
  }

  async #ask(text: string): Promise<string> {
    const seen = { ended: 'complete', asksWallet: false };
    await this.#reply(async (signal) => {
      for await (const event of this.#client.ask(text, { signal })) {
        this.display.show(event);
        seen.asksWallet ||= asksWallet(event);
        if (event.type === 'turn_ended') seen.ended = event.status;
      }
    });
    if (seen.asksWallet && !this.#isLeaving) await this.#showPending();
    return seen.ended;
  }

  /** Shows a reply, which Ctrl-C interrupts. */
  async #reply(show: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.#answer = new AbortController();
    this.#isInterrupting = false;
    try {
      await show(this.#answer.signal);
    } finally {
      this.#answer = undefined;
      this.display.end();
    }
  }

  async #showPending(): Promise<void> {
    const pending = await this.wallet().pending();
    if (pending.length === 0) return;
    const elsewhere = `To sign, continue the session on a terminal: diptych chat --session ${this.#client.sessionId}`;
    showPending(this.display, pending, this.#isTerminal ? TX_HINT : elsewhere);
  }

  /** Handles Ctrl-C, Ctrl-D and the loss of the output. Returns the function that removes the handlers. */
  #handleEndings(lines: Interface): () => void {
    const onInterrupt = (): void => {
      this.#onCtrlC(lines);
    };
    // Ctrl-D also ends the chat during a reply, which the service still completes.
    const onClose = (): void => {
      this.#isLeaving = true;
      this.#answer?.abort();
    };
    const { output } = this.terminal;
    const onLost = (): void => {
      onClose();
      lines.close();
    };
    output.on('error', onLost);
    // On a terminal, readline intercepts Ctrl-C.
    if (this.#isTerminal) lines.on('SIGINT', onInterrupt).on('close', onClose);
    const release = this.#isTerminal ? undefined : this.terminal.onInterrupt(onInterrupt);
    return () => {
      output.off('error', onLost);
      lines.off('SIGINT', onInterrupt).off('close', onClose);
      release?.();
    };
  }

  /**
   * Handles Ctrl-C. The first one interrupts the reply in progress. Without a reply, it discards the line on a terminal,
   * and shows a hint. Otherwise it exits.
   */
  #onCtrlC(lines: Interface): void {
    if (this.#answer !== undefined && !this.#isInterrupting) {
      this.#isInterrupting = true;
      this.#client.interrupt().catch((error: unknown) => {
        this.display.fault(failureWords(error));
      });
    } else if (this.#isTerminal && this.#answer === undefined) {
      lines.write(null, { ctrl: true, name: 'e' });
      lines.write(null, { ctrl: true, name: 'u' });
      this.terminal.output.write('\n');
      this.display.aside('(Ctrl-D exits)');
      lines.prompt();
    } else {
      this.#isLeaving = true;
      this.terminal.setExitCode(INTERRUPTED);
      this.#answer?.abort();
      lines.close();
    }
  }
}
