/** The next mark of a quote, list item (CommonMark 0.31 §5.1, §5.2) or footnote at the beginning of a line. */
const MARK = /[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$)|\[\^[^\]]*\]:)/y;

/** Returns the lines of a text, without their ends. */
export function linesOf(text: string): readonly string[] {
  return text.split(/\r\n?|\n/);
}

/** True for a line of nothing but spaces and tabs. */
export function isBlank(line: string): boolean {
  return /^[ \t]*$/.test(line);
}

/** Finds the marks of quotes, list items and footnotes that a line may begin with: how many, and where the last ends. */
export function marksOf(line: string): { readonly count: number; readonly end: number } {
  let count = 0;
  let end = 0;
  MARK.lastIndex = 0;
  while (MARK.test(line)) {
    count++;
    end = MARK.lastIndex;
  }
  return { count, end };
}

/** How far a fence outside of lists is indented at most, in columns. */
export const MAX_INDENT = 3;

/** A fence that opens a block of code (CommonMark 0.31 §4.5). */
export interface Fence {
  readonly indent: number;
  /** The characters that close it. */
  readonly marks: string;
}

/** Reads a line as a fence. Undefined: it is none, wherever it stands. */
export function fenceOf(line: string): Fence | undefined {
  const [, indent = '', marks] = /^([ \t]*)(`{3,}(?=[^`]*$)|~{3,})/.exec(line) ?? [];
  return marks === undefined ? undefined : { indent: columnsOf(indent), marks };
}

/** True if a line closes a fence, as long as it is not indented too far. */
export function isClosedBy(fence: Fence, line: string): boolean {
  const [, marks = ''] = /^[ \t]*(`+|~+)[ \t]*$/.exec(line) ?? [];
  return marks.startsWith(fence.marks);
}

/**
 * Returns the fence that is open after a line.
 * @param open the fence that is open before the line
 * @param maxIndent how far fences are indented at most, in columns
 */
export function fenceAfter(line: string, open: Fence | undefined, maxIndent: number): Fence | undefined {
  const isNear = indentOf(line) <= maxIndent;
  if (open !== undefined) return isNear && isClosedBy(open, line) ? undefined : open;
  return isNear ? fenceOf(line) : undefined;
}

/** Returns the indentation of a line in columns. A tab reaches to the next multiple of four. */
export function indentOf(line: string): number {
  return columnsOf(/^[ \t]*/.exec(line)?.[0] ?? '');
}

function columnsOf(indent: string): number {
  let columns = 0;
  for (const character of indent) columns += character === '\t' ? 4 - (columns % 4) : 1;
  return columns;
}
