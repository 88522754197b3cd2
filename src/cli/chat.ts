import { randomUUID } from 'node:crypto';
import { createInterface, type Interface } from 'node:readline';
import { Command, Option } from 'commander';
import { validate } from 'uuid';
import { isWebUrl } from '../config/settings.js';
import { DEFAULT_APP } from '../core/app.js';
import type { Conversation } from './chat/conversation.js';
import { openCurrent } from './chat/current.js';
import { Display } from './chat/display.js';
import { openLegacy } from './chat/legacy.js';
import { request, type WireSettings } from './chat/wire.js';
import { CommandError, type Terminal } from './terminal.js';

interface Flags {
  readonly url?: string;
  readonly surface: 'current' | 'legacy';
  readonly app: string;
  readonly session?: string;
  readonly key?: string;
}

/** `chat`: a terminal chat. */
export function chatCommand(terminal: Terminal): Command {
  return new Command('chat')
    .description('chat with a running service; lines piped in are answered one by one')
    .option('--url <url>', 'where the service is (default: this machine, at PORT or 8080)')
    .addOption(
      new Option('--surface <name>', 'the API to use').choices(['current', 'legacy']).default('current'),
    )
    .option('--app <name>', 'the App to talk to', DEFAULT_APP)
    .option('--session <uuid>', 'the session to go on with (default: a new one)')
    .option('--key <key>', "the App's key; better given as DIPTYCH_APP_KEY, which no list of processes shows")
    .addHelpText(
      'after',
      '\nKeys: Ctrl-C interrupts the answer, Ctrl-D leaves, the arrow keys recall what was said.',
    )
    .action((flags: Flags) => chat(terminal, flags));
}

async function chat(terminal: Terminal, flags: Flags): Promise<void> {
  const settings = wireSettings(terminal, flags);
  // Fails at once when nobody is there; later losses are waited out.
  await request(settings, { method: 'GET', path: '/api/health' });
  const display = new Display(terminal);
  const conversation =
    flags.surface === 'legacy' ? openLegacy(settings, display) : openCurrent(settings, display);
  const isTerminal = terminal.input.isTTY === true && terminal.output.isTTY === true;
  if (isTerminal) display.aside(`Session ${settings.sessionId}. Ctrl-C interrupts, Ctrl-D leaves.`);
  const lines = createInterface(
    isTerminal
      ? { input: terminal.input, output: terminal.output, prompt: '> ', historySize: 500 }
      : { input: terminal.input, crlfDelay: Infinity },
  );
  const keys = new InterruptKey(terminal, lines, isTerminal, conversation, display);
  try {
    if (isTerminal) lines.prompt();
    for await (const line of lines) {
      if (
        line.trim() !== '' &&
        (await keys.during(() => conversation.ask(line))) === 'failed' &&
        !isTerminal
      ) {
        terminal.setExitCode(1);
      }
      if (keys.wantsToLeave) break;
      if (isTerminal) lines.prompt();
    }
  } finally {
    keys.release();
    lines.close();
    await conversation.close();
  }
}

function wireSettings(terminal: Terminal, flags: Flags): WireSettings {
  const sessionId = flags.session ?? randomUUID();
  if (!validate(sessionId)) throw new CommandError('--session takes a UUID', 2);
  const url = flags.url ?? `http://127.0.0.1:${terminal.env.PORT ?? '8080'}`;
  if (!isWebUrl(url)) throw new CommandError('--url takes an http or https URL', 2);
  const key = flags.key ?? terminal.env.DIPTYCH_APP_KEY;
  return { url: url.replace(/\/+$/, ''), sessionId, app: flags.app, key };
}

/** Ctrl-C: interrupts the answer under way, once; without one, or pressed again, it leaves where nobody types. */
class InterruptKey {
  readonly release: () => void;
  wantsToLeave = false;
  #busy = false;
  #asked = false;

  constructor(
    terminal: Terminal,
    lines: Interface,
    isTerminal: boolean,
    conversation: Conversation,
    display: Display,
  ) {
    const onKey = (): void => {
      if (this.#busy && !this.#asked) {
        this.#asked = true;
        conversation.interrupt().catch((error: unknown) => {
          display.aside(`! ${error instanceof Error ? error.message : String(error)}`);
        });
      } else if (isTerminal && !this.#busy) {
        display.aside('\n(Ctrl-D leaves)');
        lines.prompt();
      } else {
        this.wantsToLeave = true;
        terminal.setExitCode(130);
        lines.close();
        if (this.#busy) terminal.input.destroy();
      }
    };
    // On a terminal readline takes the key itself.
    if (isTerminal) lines.on('SIGINT', onKey);
    const stop = isTerminal ? undefined : terminal.onInterrupt(onKey);
    this.release = () => {
      lines.off('SIGINT', onKey);
      stop?.();
    };
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#busy = true;
    this.#asked = false;
    try {
      return await work();
    } finally {
      this.#busy = false;
    }
  }
}
