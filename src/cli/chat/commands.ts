import type { Client } from '../../client/index.js';
import { runTx, TX_USAGE, type WalletRoom } from './wallet-commands.js';

/** The part of the chat that commands can use. */
export interface ChatRoom extends WalletRoom {
  readonly client: () => Client;
  /** Continues in a new session. */
  renew(): Promise<void>;
  readonly leave: () => void;
}

interface ChatCommand {
  /** Its forms, each with what it does. */
  readonly usage: readonly (readonly [string, string])[];
  run(room: ChatRoom, argument: string): Promise<void> | void;
}

/** The slash commands, by name. */
const COMMANDS: Readonly<Record<string, ChatCommand>> = {
  help: {
    usage: [['/help', 'shows this help']],
    run({ display }) {
      const forms = Object.values(COMMANDS).flatMap(({ usage }) => usage);
      const width = Math.max(...forms.map(([form]) => form.length));
      for (const [form, does] of forms) display.aside(`${form.padEnd(width)}  ${does}`);
      display.aside(
        'Never paste a private key. A hash and a key look alike: /tx done cannot tell them apart.',
      );
      display.aside('Ctrl-C interrupts the reply, Ctrl-D exits, the arrow keys recall previous lines.');
    },
  },
  new: {
    usage: [['/new', 'starts a new session']],
    async run(room) {
      await room.renew();
      room.display.aside(`Session ${room.client().sessionId}.`);
    },
  },
  session: {
    usage: [['/session', 'shows the id of this session, for --session']],
    run({ client, display }) {
      display.aside(client().sessionId);
    },
  },
  rig: {
    usage: [['/rig [ID]', 'lists the rigs, or selects one']],
    async run({ client, display }, rig) {
      if (rig === '') display.aside((await client().rigs()).join('  '));
      else {
        await client().selectRig(rig);
        display.aside(`The session now uses ${rig}.`);
      }
    },
  },
  title: {
    usage: [['/title [TEXT]', 'shows the title of this session, or sets it']],
    async run({ client, display }, title) {
      if (title !== '') await client().rename(client().sessionId, title);
      display.aside((await client().state()).title ?? '(none)');
    },
  },
  tx: { usage: TX_USAGE, run: runTx },
  quit: {
    usage: [['/quit', 'exits']],
    run({ leave }) {
      leave();
    },
  },
};

/** Parses a slash command; undefined for any other line, which goes to the assistant (such as `/tool …`). */
export function commandIn(line: string): ((room: ChatRoom) => Promise<void> | void) | undefined {
  const [, name = '', argument = ''] = /^\/(\w+)(?:\s+(.*))?$/.exec(line.trim()) ?? [];
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  return command && ((room) => command.run(room, argument.trim()));
}
