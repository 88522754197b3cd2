import { quoted, visible, visibleLine } from '../../client/visible-text.js';

/** They fit a terminal of 80 columns with what is before them. */
const COLUMNS = 70;
const MAX_LINES = 60;

/**
 * Returns somebody else's words in quotation marks: each line in its own, so that none can pass for one of the chat.
 * @param limit maximum length in UTF-16 code units
 */
export function quotedLines(text: string, limit = 200): readonly string[] {
  return wrapped(visibleLine(text, limit)).map((line) => quoted(line));
}

/**
 * Returns lines of somebody else with a bar before each, also where a long one is wrapped; at most `MAX_LINES`.
 * @param whole where all of it is, for what is left out
 */
export function framedLines(lines: readonly string[], whole: string): readonly string[] {
  const all = lines.flatMap((line) => wrapped(visible(line, line.length)));
  const rest = all.length - MAX_LINES;
  return [
    ...all.slice(0, MAX_LINES).map((line) => `│ ${line}`),
    ...(rest > 0 ? [`(${String(rest)} more lines are left out: all of it is in ${whole}.)`] : []),
  ];
}

/** Breaks a line. A character outside ASCII may be two columns wide. */
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
