import type { Readable, Writable } from 'node:stream';

/** What a command may use of the process that it runs in. */
export interface Terminal {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable & { readonly isTTY?: boolean };
  readonly errors: Writable & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Calls `listener` instead of ending the process when Ctrl-C is pressed. Returns how to stop that. */
  onInterrupt(listener: () => void): () => void;
  /** The code that the process will end with. */
  setExitCode(code: number): void;
}

/** A command cannot do what it was asked. `message` is one clear line for the person who asked. */
export class CommandError extends Error {
  override readonly name = 'CommandError';

  /** @param exitCode 1: it failed; 2: it was called wrongly */
  constructor(
    message: string,
    readonly exitCode: 1 | 2 = 1,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Prints data as JSON, indented. */
export function printJson(terminal: Terminal, value: unknown): void {
  terminal.output.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** Prints rows under their headings, columns aligned; `empty` when there is none. */
export function printTable(
  terminal: Pick<Terminal, 'output'>,
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  empty: string,
): void {
  if (rows.length === 0) {
    terminal.output.write(`${empty}\n`);
    return;
  }
  const all = [headings, ...rows].map((row) => row.map((cell) => printable(cell)));
  const widths = headings.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  terminal.output.write(`${lines.join('\n')}\n`);
}

/** Text without control characters, which could steer the terminal; line breaks and tabs only with `lines`. */
export function printable(text: string, options: { lines?: boolean } = {}): string {
  const lines = options.lines === true;
  return text.replaceAll(/\p{Cc}/gu, (character) =>
    lines && (character === '\n' || character === '\t') ? character : ' ',
  );
}

/** A time as people and programs read it: ISO 8601 in UTC. */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}
