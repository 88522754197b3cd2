import { Command } from 'commander';
import { readVersion } from '../version.js';
import { appsCommand } from './apps.js';
import { backupCommand } from './backup.js';
import { chatCommand } from './chat.js';
import { checkCommand } from './check.js';
import { completionCommand } from './completion.js';
import { keysCommand } from './keys.js';
import { legacyCommand } from './legacy.js';
import { migrateCommand } from './migrate.js';
import { rigsCommand } from './rigs.js';
import { secretsCommand } from './secrets.js';
import { serveCommand } from './serve.js';
import { sessionsCommand } from './sessions.js';
import { colourful, styled, type Terminal } from './terminal.js';

/** Creates the command line. Parsing throws a `CommanderError` instead of exiting the process. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command('diptych')
    .description('A self-hosted conversational assistant service with two API surfaces on one core.')
    .version(readVersion())
    .showHelpAfterError('(add --help for usage)')
    .addHelpText(
      'after',
      '\nExit codes: 0 success, 1 failure, 2 invalid arguments or configuration, 130 interrupted by Ctrl-C.',
    );
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
    completionCommand(terminal, program),
  ];
  for (const command of commands) program.addCommand(command);
  for (const command of withChildren(program)) {
    command
      .exitOverride()
      .configureOutput({
        writeOut: (text) => terminal.output.write(text),
        writeErr: (text) => terminal.errors.write(text),
        getOutHasColors: () => colourful(terminal, terminal.output),
        getErrHasColors: () => colourful(terminal, terminal.errors),
        outputError: (text, write) => {
          write(styled('red', text, colourful(terminal, terminal.errors)));
        },
      })
      .configureHelp({ styleTitle: (title) => styled('bold', title, true) });
  }
  return program;
}

function withChildren(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(withChildren)];
}
