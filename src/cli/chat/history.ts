import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeFolders } from '../../adapters/platform/node/make-folders.js';
import type { Terminal } from '../terminal.js';
import { mayHoldKey } from './wallet-commands.js';

/** Maximum number of lines that the arrow keys recall. */
export const HISTORY_LINES = 500;

/** The input history of all chats: a file that only its owner can read, one entry per line. */
export class History {
  private constructor(
    private readonly file: string | undefined,
    /** Newest first. */
    readonly lines: readonly string[],
  ) {}

  /**
   * Opens the history. Never rejects: on errors, the chat runs without one.
   * @param isKept false: neither reads nor writes the file
   */
  static async open({ env }: Terminal, isKept: boolean): Promise<History> {
    if (!isKept) return new History(undefined, []);
    const file = join(stateFolder(env), 'diptych', 'history');
    try {
      await makeFolders(dirname(file));
      // Creates the file, readable by its owner only.
      await appendFile(file, '', { mode: 0o600 });
      const all = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
      const kept = all.slice(-HISTORY_LINES);
      if (all.length > 2 * HISTORY_LINES) await writeFile(file, `${kept.join('\n')}\n`, { mode: 0o600 });
      return new History(file, kept.reverse());
    } catch {
      return new History(undefined, []);
    }
  }

  /** Adds a line, unless it may hold a private key. */
  async add(line: string): Promise<void> {
    if (this.file === undefined || line.trim() === '' || mayHoldKey(line)) return;
    try {
      await appendFile(this.file, `${line}\n`, { mode: 0o600 });
    } catch {
      // The line is lost for later chats only; readline still recalls it in this one.
    }
  }
}

function stateFolder({ XDG_STATE_HOME: folder, HOME: home }: Terminal['env']): string {
  return folder?.startsWith('/') === true ? folder : join(home ?? homedir(), '.local', 'state');
}
