import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = new URL('../../', import.meta.url).pathname;
export const MAIN = join(ROOT, 'dist/main.js');
export const CLI = join(ROOT, 'dist/cli/diptych.js');

/** For `Place.runAfter`: makes stdout a pipe whose reader has gone. Opening a FIFO waits for the other side. */
export const UNREAD = 'mkfifo unread && exec 3<>unread >unread 3>&- && rm unread';

/** A process with what it has said so far. */
export interface Running {
  readonly child: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  /** Resolves with the exit code, or with the signal that ended it. */
  readonly ended: Promise<number | string>;
  /** Resolves once both outputs together hold this. Rejects when the process ends before. */
  says(what: string | RegExp): Promise<RegExpExecArray>;
}

/** A place of its own for a database and a configuration file, and processes that use them. */
export class Place {
  readonly directory = mkdtempSync(join(tmpdir(), 'diptych-test-'));
  readonly database = join(this.directory, 'data', 'diptych.db');
  readonly #children = new Set<ChildProcess>();

  /** Starts node with a script. Only these variables are in its environment. */
  start(script: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
    const child = spawn(process.execPath, [script, ...args], {
      cwd: this.directory,
      env: {
        PATH: process.env.PATH,
        PORT: '0',
        DEMO_TOKEN_MS: '0',
        DATABASE_URL: `sqlite:${this.database}`,
        ...env,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#children.add(child);
    return watch(child);
  }

  /** Starts a command in a terminal of its own (util-linux's `script`); what is written to its input is typed. */
  startInTerminal(args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
    const command = [process.execPath, CLI, ...args].map((word) => `'${word}'`).join(' ');
    const child = spawn('script', ['-qfec', command, '/dev/null'], {
      cwd: this.directory,
      env: { PATH: process.env.PATH, HOME: this.directory, TERM: 'xterm', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#children.add(child);
    return watch(child);
  }

  /** Starts the service with so many file descriptors at most, and resolves with its base URL. */
  async serveWithin(descriptors: number): Promise<{ running: Running; url: string }> {
    const command = `ulimit -n ${String(descriptors)} && exec '${process.execPath}' '${MAIN}'`;
    const child = spawn('bash', ['-c', command], {
      cwd: this.directory,
      env: { PATH: process.env.PATH, PORT: '0', DEMO_TOKEN_MS: '0', DATABASE_URL: `sqlite:${this.database}` },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#children.add(child);
    const running = watch(child);
    const [, url = ''] = await running.says(/"url":"(http:[^"]+)"/);
    return { running, url };
  }

  /** Starts the service and resolves with its base URL. */
  async serve(env: Readonly<Record<string, string>> = {}): Promise<{ running: Running; url: string }> {
    const running = this.start(MAIN, [], env);
    const [, url = ''] = await running.says(/"url":"(http:[^"]+)"/);
    return { running, url };
  }

  /** Runs a command that can write no file of more than so many KiB, as on a disk that becomes full. */
  runWithin(kibibytes: number, args: readonly string[]) {
    return this.runAfter(`ulimit -f ${String(kibibytes)}`, args);
  }

  /** Runs a command in the state of a shell that has run `preparation`, such as `exec >/dev/full`. */
  async runAfter(
    preparation: string,
    args: readonly string[],
    options: { input?: string; env?: Readonly<Record<string, string>> } = {},
  ) {
    const script = `${preparation} && exec '${process.execPath}' '${CLI}' "$@"`;
    // Bash reads its startup file if its input is a socket, as Node's pipes are.
    const child = spawn('bash', ['--norc', '-c', script, 'bash', ...args], {
      cwd: this.directory,
      env: { PATH: process.env.PATH, DATABASE_URL: `sqlite:${this.database}`, ...options.env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#children.add(child);
    const running = watch(child);
    child.stdin.end(options.input ?? '');
    const code = await running.ended;
    return { code, out: running.out(), err: running.err() };
  }

  /** Runs a command to its end; `input` is what it reads. */
  async run(
    args: readonly string[],
    options: { input?: string; env?: Readonly<Record<string, string>> } = {},
  ) {
    const running = this.start(CLI, args, options.env);
    running.child.stdin?.end(options.input ?? '');
    const code = await running.ended;
    return { code, out: running.out(), err: running.err() };
  }

  /** Ends what still runs, by its own pid, and removes everything. */
  async clear(): Promise<void> {
    for (const child of this.#children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = new Promise((resolve) => child.once('close', resolve));
      child.kill('SIGKILL');
      await ended;
    }
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function watch(child: ChildProcess): Running {
  let out = '';
  let err = '';
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    tell();
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    err += text;
    tell();
  });
  let isOver = false;
  const ended = new Promise<number | string>((resolve) => {
    child.once('close', (code, signal) => {
      isOver = true;
      resolve(code ?? signal ?? 'unknown');
      tell();
    });
  });
  return {
    child,
    out: () => out,
    err: () => err,
    ended,
    says: (what) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const pattern = typeof what === 'string' ? new RegExp(escape(what)) : what;
          const found = pattern.exec(`${out}\0${err}`);
          if (found === null && !isOver) return;
          listeners.delete(look);
          if (found === null) reject(new Error(`ended without ${String(what)}:\n${out}\n${err}`));
          else resolve(found);
        };
        listeners.add(look);
        look();
      }),
  };
}

function escape(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
