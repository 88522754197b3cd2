import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

/** What a child gets of this process's environment. */
const INHERITED = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TERM', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR'],
  ...['SYSTEMROOT', 'SYSTEMDRIVE', 'COMSPEC', 'PATHEXT', 'APPDATA', 'LOCALAPPDATA', 'PROGRAMFILES'],
  ...['USERPROFILE', 'HOMEDRIVE', 'HOMEPATH', 'TEMP', 'TMP'],
];
/** After the exit, what is still in the pipes may be read for so long: a grandchild may hold them open. */
const LAST_WORDS_MS = 500;

/** A process that serves tools on its standard streams. */
export type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** The few variables that every child gets, out of an environment. */
export function inheritedEnv(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    INHERITED.flatMap((name): [string, string][] => {
      const value = env[name];
      // A value that begins so is a shell function.
      return value === undefined || value.startsWith('()') ? [] : [[name, value]];
    }),
  );
}

/**
 * Starts a child in a process group of its own: a Ctrl-C at the terminal must not end the servers of turns that may
 * still finish, and what the child has started itself ends with it.
 * @throws Error when it cannot be started
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

/** Resolves when the child has ended and its output has been read. */
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
      signalGroup(child, 'SIGKILL'); // what it has left behind
    });
    child.once('close', finish);
  });
}

/** Ends the child: it is asked by the end of its input, then by SIGTERM, and then is not asked any more. */
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

/** Signals the child and all that it has started. */
function signalGroup(child: Child, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch (error) {
    const isGone = error instanceof Error && 'code' in error && error.code === 'ESRCH';
    if (!isGone) child.kill(signal);
  }
}

/** True when the promise settles in that time. */
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
