import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { codeOf } from '../../platform/node/error-code.js';

/** The environment variables that a child inherits. */
const INHERITED = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TERM', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR'],
  ...['SYSTEMROOT', 'SYSTEMDRIVE', 'COMSPEC', 'PATHEXT', 'APPDATA', 'LOCALAPPDATA', 'PROGRAMFILES'],
  ...['USERPROFILE', 'HOMEDRIVE', 'HOMEPATH', 'TEMP', 'TMP'],
];
/** How long to read the pipes after the exit, in milliseconds: a grandchild may hold them open. */
const LAST_WORDS_MS = 500;

/** A tool server that communicates over its standard streams. */
export type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** Picks the variables that every child inherits. */
export function inheritedEnv(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    INHERITED.flatMap((name): [string, string][] => {
      const value = env[name];
      // Bash exports functions as values that begin with `()`.
      return value === undefined || value.startsWith('()') ? [] : [[name, value]];
    }),
  );
}

/**
 * Starts a child in its own process group. This keeps a Ctrl-C at the terminal from ending servers that running turns
 * still need, and lets `stopChild` also end the child's own children.
 * @throws Error when the child cannot be started
 */
export async function startChild(launch: {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | null;
}): Promise<Child> {
  const child = spawn(launch.command, [...launch.args], {
    env: launch.env,
    ...(launch.cwd === null ? {} : { cwd: launch.cwd }),
    stdio: ['pipe', 'pipe', 'pipe'],
    shell: false,
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  return child;
}

/** Resolves when the child has exited and its output has been read. */
export function whenEnded(child: Child): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      for (const stream of child.stdio) stream?.destroy();
      resolve();
    };
    let timer: NodeJS.Timeout | undefined;
    child.once('exit', () => {
      timer = setTimeout(finish, LAST_WORDS_MS);
      signalGroup(child, 'SIGKILL'); // processes that the child left behind
    });
    child.once('close', finish);
  });
}

/** Stops the child: ends its input, then sends SIGTERM, then SIGKILL, each after `patienceMs`. */
export async function stopChild(child: Child, ended: Promise<void>, patienceMs: number): Promise<void> {
  child.stdin.end();
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (await settlesWithin(ended, patienceMs)) return;
    if (isRunning(child)) signalGroup(child, signal);
  }
  await ended;
}

function isRunning(child: Child): boolean {
  return child.exitCode === null && child.signalCode === null;
}

/** Sends a signal to the child and the processes that it has started. */
function signalGroup(child: Child, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') child.kill(signal);
  }
}

/** True when the promise resolves within the time. */
async function settlesWithin(promise: Promise<void>, milliseconds: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => {
      resolve(false);
    }, milliseconds);
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
