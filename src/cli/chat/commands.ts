import type { Client } from '../../client/index.js';
import type { Display } from './display.js';

/** The part of the chat that commands can use. */
export interface ChatRoom {
  readonly display: Display;
  readonly client: () => Client;
  /** Continues in a new session. */
  renew(): void;
  readonly leave: () => void;
}

interface ChatCommand {
  readonly usage: string;
  readonly does: string;
  run(room: ChatRoom, argument: string): Promise<void> | void;
}

/** The slash commands, by name. */
const COMMANDS: Readonly<Record<string, ChatCommand>> = {
  help: {
    usage: '/help',
    does: 'shows this help',
    run({ display }) {
      const width = Math.max(...Object.values(COMMANDS).map(({ usage }) => usage.length));
      for (const { usage, does } of Object.values(COMMANDS)) display.aside(`${usage.padEnd(width)}  ${does}`);
      display.aside('Ctrl-C interrupts the reply, Ctrl-D exits, the arrow keys recall previous lines.');
    },
  },
  new: {
    usage: '/new',
    does: 'starts a new session',
    run(room) {
      room.renew();
      room.display.aside(`Session ${room.client().sessionId}.`);
    },
  },
  session: {
    usage: '/session',
    does: 'shows the id of this session, for --session',
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
        display.aside(`The session now uses ${rig}.`);
      }
    },
  },
  title: {
    usage: '/title [TEXT]',
    does: 'shows the title of this session, or sets it',
    async run({ client, display }, title) {
      if (title !== '') await client().rename(client().sessionId, title);
      display.aside((await client().state()).title ?? '(none)');
    },
  },
  quit: {
    usage: '/quit',
    does: 'exits',
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
