#!/usr/bin/env node
import { CommanderError } from 'commander';
import { processSources } from '../config.js';
import { ConfigError } from '../config/mistakes.js';
import { createProgram } from './program.js';
import { colourful, CommandError, styled, type Terminal } from './terminal.js';

const terminal: Terminal = {
  input: process.stdin,
  output: process.stdout,
  errors: process.stderr,
  env: processSources().env,
  onInterrupt: (listener) => onSignals(['SIGINT'], listener),
  onStop: (listener) => onSignals(['SIGINT', 'SIGTERM', 'SIGHUP'], listener),
  setExitCode: (code) => {
    process.exitCode = code;
  },
};

// A closed pipe (`| head`) is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

try {
  await createProgram(terminal).parseAsync(process.argv);
} catch (error) {
  process.exitCode = report(error);
}

function onSignals(signals: readonly NodeJS.Signals[], listener: () => void): () => void {
  for (const signal of signals) process.on(signal, listener);
  return () => {
    for (const signal of signals) process.off(signal, listener);
  };
}

/** Prints an error to stderr; returns the exit code. */
function report(error: unknown): number {
  if (error instanceof CommanderError) {
    // Commander has already printed it. Help and version requests also arrive as errors.
    return ['commander.helpDisplayed', 'commander.version'].includes(error.code) ? 0 : 2;
  }
  if (error instanceof ConfigError) {
    const lines = error.mistakes.map(({ where, what }) => `  ${where}: ${what}`);
    process.stderr.write(`${red('The configuration is invalid:')}\n${lines.join('\n')}\n`);
    return 2;
  }
  process.stderr.write(`${red('diptych:')} ${error instanceof Error ? error.message : String(error)}\n`);
  return error instanceof CommandError ? error.exitCode : 1;
}

function red(text: string): string {
  return styled('red', text, colourful(terminal, terminal.errors));
}
