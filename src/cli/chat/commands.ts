import type { Client } from '../../client/index.js';
import type { Display } from './display.js';

/** What a command may do with the chat. */
export interface ChatRoom {
  readonly display: Display;
  readonly client: () => Client;
  /** Goes on in a new session. */
  renew(): void;
  readonly leave: () => void;
}

interface ChatCommand {
  readonly usage: string;
  readonly does: string;
  run(room: ChatRoom, argument: string): Promise<void> | void;
}

/** What a line that begins with a slash can ask for. */
const COMMANDS: Readonly<Record<string, ChatCommand>> = {
  help: {
    usage: '/help',
    does: 'says this',
    run({ display }) {
      const width = Math.max(...Object.values(COMMANDS).map(({ usage }) => usage.length));
      for (const { usage, does } of Object.values(COMMANDS)) display.aside(`${usage.padEnd(width)}  ${does}`);
      display.aside('Ctrl-C interrupts the answer, Ctrl-D leaves, the arrow keys recall what was typed.');
    },
  },
  new: {
    usage: '/new',
    does: 'begins a new session',
    run(room) {
      room.renew();
      room.display.aside(`Session ${room.client().sessionId}.`);
    },
  },
  session: {
    usage: '/session',
    does: 'tells the id of this session, for --session',
    run({ client, display }) {
      display.aside(client().sessionId);
    },
  },
  rig: {
    usage: '/rig [ID]',
    does: 'lists the rigs, or selects one',
    async run({ client, display }, rig) {
      if (rig === '') display.aside((await client().rigs()).join('  '));
      else {
        await client().selectRig(rig);
        display.aside(`${rig} answers from now on.`);
      }
    },
  },
  title: {
    usage: '/title [TEXT]',
    does: 'tells the title of this session, or sets it',
    async run({ client, display }, title) {
      if (title !== '') await client().rename(client().sessionId, title);
      display.aside((await client().state()).title ?? '(none)');
    },
  },
  quit: {
    usage: '/quit',
    does: 'leaves',
    run({ leave }) {
      leave();
    },
  },
};

/** The command that a line is; undefined: it is for the assistant, as `/tool …` is. */
export function commandIn(line: string): ((room: ChatRoom) => Promise<void> | void) | undefined {
  const [, name = '', argument = ''] = /^\/(\w+)(?:\s+(.*))?$/.exec(line.trim()) ?? [];
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  return command && ((room) => command.run(room, argument.trim()));
}
