import { Command } from 'commander';
import { readVersion } from '../version.js';
import { appsCommand } from './apps.js';
import { backupCommand } from './backup.js';
import { chatCommand } from './chat.js';
import { checkCommand } from './check.js';
import { keysCommand } from './keys.js';
import { legacyCommand } from './legacy.js';
import { migrateCommand } from './migrate.js';
import { rigsCommand } from './rigs.js';
import { secretsCommand } from './secrets.js';
import { serveCommand } from './serve.js';
import { sessionsCommand } from './sessions.js';
import type { Terminal } from './terminal.js';

/** The whole command line. Parsing throws a `CommanderError` instead of ending the process. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command('diptych')
    .description('A self-hosted conversational assistant service with two API surfaces on one core.')
    .version(readVersion())
    .showHelpAfterError('(add --help for what there is)');
  const commands = [
    serveCommand(),
    keysCommand(terminal),
    appsCommand(terminal),
    rigsCommand(terminal),
    checkCommand(terminal),
    chatCommand(terminal),
    sessionsCommand(terminal),
    secretsCommand(terminal),
    legacyCommand(terminal),
    backupCommand(terminal),
    migrateCommand(terminal),
  ];
  for (const command of commands) program.addCommand(command);
  for (const command of withChildren(program)) {
    command.exitOverride().configureOutput({
      writeOut: (text) => terminal.output.write(text),
      writeErr: (text) => terminal.errors.write(text),
    });
  }
  return program;
}

function withChildren(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(withChildren)];
}
