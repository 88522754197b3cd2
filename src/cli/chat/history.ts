import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Terminal } from '../terminal.js';

/** How many lines the arrow keys reach back to. */
export const HISTORY_LINES = 500;

/** What was typed, over all chats: a file that only its owner reads, a line each. */
export class History {
  private constructor(
    private readonly file: string | undefined,
    /** The newest first. */
    readonly lines: readonly string[],
  ) {}

  /**
   * Nothing of it can fail a chat: without a file there is no history. @param isKept false: neither read nor written
   */
  static async open({ env }: Terminal, isKept: boolean): Promise<History> {
    if (!isKept) return new History(undefined, []);
    const file = join(stateFolder(env), 'diptych', 'history');
    try {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      // Made here if it is new, for its owner alone.
      await appendFile(file, '', { mode: 0o600 });
      const all = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
      const kept = all.slice(-HISTORY_LINES);
      if (all.length > 2 * HISTORY_LINES) await writeFile(file, `${kept.join('\n')}\n`, { mode: 0o600 });
      return new History(file, kept.reverse());
    } catch {
      return new History(undefined, []);
    }
  }

  /** Keeps a line. */
  async add(line: string): Promise<void> {
    if (this.file === undefined || line.trim() === '') return;
    try {
      await appendFile(this.file, `${line}\n`, { mode: 0o600 });
    } catch {
      // It is recalled in this chat, and not in the next.
    }
  }
}

function stateFolder({ XDG_STATE_HOME: folder, HOME: home }: Terminal['env']): string {
  return folder?.startsWith('/') === true ? folder : join(home ?? homedir(), '.local', 'state');
}
