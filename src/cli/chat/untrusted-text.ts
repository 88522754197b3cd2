import { quoted, visible, visibleLine } from '../../client/visible-text.js';

/** Width of a line, so that it fits a terminal of 80 columns with its indentation and marks. */
const COLUMNS = 70;
const MAX_LINES = 60;

/**
 * Wraps untrusted text and puts each line in quotation marks of its own, so that none looks like a line of the chat.
 * @param limit maximum length in UTF-16 code units
 */
export function quotedLines(text: string, limit = 200): readonly string[] {
  return wrapped(visibleLine(text, limit)).map((line) => quoted(line));
}

/**
 * Wraps untrusted lines and puts a bar before each. Returns at most `MAX_LINES`, and then how many are left out.
 * @param whole names the place of the whole text
 */
export function framedLines(lines: readonly string[], whole: string): readonly string[] {
  const all = lines.flatMap((line) => wrapped(visible(line, line.length)));
  const rest = all.length - MAX_LINES;
  return [
    ...all.slice(0, MAX_LINES).map((line) => `│ ${line}`),
    ...(rest > 0 ? [`(${String(rest)} more lines are left out: all of it is in ${whole}.)`] : []),
  ];
}

/** Breaks a line at `COLUMNS`. Counts two columns for each character outside ASCII, which may be that wide. */
function wrapped(text: string): readonly string[] {
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const character of text) {
    const width = character > '\u007f' ? 2 : 1;
    if (used + width > COLUMNS) {
      lines.push(line);
      line = '';
      used = 0;
    }
    line += character;
    used += width;
  }
  return [...lines, line];
}
