import { spawn } from 'node:child_process';
import process from 'node:process';
import { createInterface } from 'node:readline';

/**
 * Starts a program. It gets a process group of its own: Ctrl-C at the terminal reaches only this process, which then ends
 * its children one after the other.
 */
export function startChild(name, command, args, env = process.env) {
  const child = spawn(command, args, {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
  });
  process.once('exit', () => child.kill('SIGKILL')); // whatever happens here, it does not stay behind
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (complaints = (complaints + text).slice(-4000)));
  const lines = createInterface({ input: child.stdout });
  const ended = new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(code ?? signal));
  });

  return {
    /** Resolves with its exit code, or with what else ended it. */
    ended,

    /** Resolves with the first line of its output that the pattern matches, as a match. */
    says: (pattern) =>
      new Promise((resolve, reject) => {
        lines.on('line', (line) => {
          const found = pattern.exec(line);
          if (found !== null) resolve(found);
        });
        ended.then((how) => reject(new Error(`${name} ended (${how}).\n${complaints}`)));
      }),

    /** Asks it to end, and resolves when it has. */
    async end() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
