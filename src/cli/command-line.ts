import { CommanderError } from 'commander';
import { processSources } from '../config.js';
import { ConfigError } from '../config/mistakes.js';
import { ENDING_SIGNALS, onSignals } from '../signals.js';
import { openOutput } from './output.js';
import { createProgram } from './program.js';
import { colourful, CommandError, styled, type Terminal } from './terminal.js';

const FAILED = 1;

/**
 * Runs the command that the arguments of the process name, and sets its exit code. `serve` has added its listeners of
 * signals when the call returns its promise.
 */
export async function runCommand(): Promise<void> {
  const terminal: Terminal = {
    input: process.stdin,
    output: openOutput((message) => {
      reportFailure(message, terminal);
      process.exitCode ??= FAILED;
    }),
    errors: process.stderr,
    env: processSources().env,
    onInterrupt: (listener) => onSignals(['SIGINT'], listener),
    onStop: (listener) => onSignals(ENDING_SIGNALS, listener),
    setExitCode,
    exit: () => process.exit(),
  };
  // Errors that cannot be shown do not end the command.
  process.stderr.on('error', () => undefined);
  try {
    await createProgram(terminal).parseAsync(process.argv);
  } catch (error) {
    setExitCode(report(error, terminal));
  }
}

/** Sets the exit code of the process. 0 does not replace the code of a failure. */
function setExitCode(code: number): void {
  if (code !== 0) process.exitCode = code;
}

/** Prints an error to stderr; returns the exit code. */
function report(error: unknown, terminal: Terminal): number {
  if (error instanceof CommanderError) {
    // Commander has already printed it. Requests for help or the version also arrive as errors, with exit code 0.
    return error.exitCode === 0 ? 0 : 2;
  }
  if (error instanceof ConfigError) {
    const lines = error.mistakes.map(({ where, what }) => `  ${where}: ${what}`);
    process.stderr.write(`${red('The configuration is invalid:', terminal)}\n${lines.join('\n')}\n`);
    return 2;
  }
  reportFailure(error instanceof Error ? error.message : String(error), terminal);
  return error instanceof CommandError ? error.exitCode : FAILED;
}

function reportFailure(message: string, terminal: Terminal): void {
  process.stderr.write(`${red('diptych:', terminal)} ${message}\n`);
}

function red(text: string, terminal: Terminal): string {
  return styled('red', text, colourful(terminal, terminal.errors));
}
