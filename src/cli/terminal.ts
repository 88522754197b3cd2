import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';

/** The process resources that commands use. */
export interface Terminal {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable & { readonly isTTY?: boolean };
  readonly errors: Writable & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Calls `listener` on Ctrl-C instead of exiting. Returns the function that removes it. */
  onInterrupt(listener: () => void): () => void;
  /** Calls `listener` on Ctrl-C, SIGTERM and SIGHUP instead of exiting. Returns the function that removes it. */
  onStop(listener: () => void): () => void;
  /** Sets the exit code of the process. 0 does not replace the code of a failure. */
  setExitCode(code: number): void;
  /** Ends the process with its exit code, even if timers and connections are left. */
  exit(): void;
}

/** The exit code after Ctrl-C. The others: 0 success, 1 failure, 2 invalid arguments or configuration. */
export const INTERRUPTED = 130;

/** True when a stream supports colors: it is a terminal, and neither NO_COLOR nor TERM=dumb is set. */
export function colourful(
  { env }: Pick<Terminal, 'env'>,
  stream: { readonly isTTY?: boolean | undefined },
): boolean {
  return stream.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb';
}

/** Applies a style if the stream supports colors. */
export function styled(
  style: 'bold' | 'dim' | 'red' | 'yellow' | 'green',
  text: string,
  isColourful: boolean,
): string {
  return isColourful ? styleText(style, text, { validateStream: false }) : text;
}

/** Shows a progress line on stderr, only on a terminal. Each text replaces the last one; an empty text clears it. */
export function showProgress({ errors }: Pick<Terminal, 'errors'>): (text: string) => void {
  if (errors.isTTY !== true) return () => undefined;
  return (text) => {
    errors.write(`\r\u001B[K${text}`);
  };
}

/** A command failed or was called incorrectly. `message` is one line for the user. */
export class CommandError extends Error {
  override readonly name = 'CommandError';

  /** @param exitCode 1: the command failed; 2: its arguments are invalid; 130: it was interrupted */
  constructor(
    message: string,
    readonly exitCode: 1 | 2 | typeof INTERRUPTED = 1,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Formats data as indented JSON, with a line break at the end. */
export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Prints data as indented JSON. */
export function printJson(terminal: Terminal, value: unknown): void {
  terminal.output.write(jsonText(value));
}

/** Prints text. @throws Error when it cannot be written, also when the reader of a pipe has gone */
export function writeAll({ output }: Pick<Terminal, 'output'>, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    output.write(text, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}

/** Prints a table with aligned columns, or `empty` when there are no rows. */
export function printTable(
  terminal: Pick<Terminal, 'output' | 'env'>,
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  empty: string,
): void {
  if (rows.length === 0) {
    terminal.output.write(`${empty}\n`);
    return;
  }
  const all = [headings, ...rows].map((row) => row.map((cell) => printable(cell)));
  const widths = headings.map((_, column) =>
    all.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), 0),
  );
  const [heading = '', ...lines] = all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const shown = styled('bold', heading, colourful(terminal, terminal.output));
  terminal.output.write(`${[shown, ...lines].join('\n')}\n`);
}

/** Replaces control characters, which could control the terminal; keeps line breaks and tabs only with `lines`. */
export function printable(text: string, options: { lines?: boolean } = {}): string {
  const lines = options.lines === true;
  return text.replaceAll(/\p{Cc}/gu, (character) =>
    lines && (character === '\n' || character === '\t') ? character : ' ',
  );
}

/** Formats a time as ISO 8601 in UTC. */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}
