import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';

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

/** Exit codes: 0 done, 1 it failed, 2 it was called wrongly or the configuration is bad, 130 Ctrl-C. */
export const INTERRUPTED = 130;

/** Whether a stream shows colours: only a terminal does, and not against the wishes in NO_COLOR. */
export function colourful(
  { env }: Pick<Terminal, 'env'>,
  stream: { readonly isTTY?: boolean | undefined },
): boolean {
  return stream.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb';
}

/** Text in a style, where there are colours. */
export function styled(style: 'bold' | 'dim' | 'red' | 'green', text: string, isColourful: boolean): string {
  return isColourful ? styleText(style, text, { validateStream: false }) : text;
}

/** One line in place on stderr where a person watches, and silence elsewhere. Empty text takes it away. */
export function showProgress({ errors }: Pick<Terminal, 'errors'>): (text: string) => void {
  if (errors.isTTY !== true) return () => undefined;
  return (text) => {
    errors.write(`\r\u001B[K${text}`);
  };
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
  terminal: Terminal,
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
  const [heading = '', ...lines] = all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const shown = styled('bold', heading, colourful(terminal, terminal.output));
  terminal.output.write(`${[shown, ...lines].join('\n')}\n`);
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
