/**
 * Control, format and ignorable characters and the blank of Braille, except the line break. No font shows them, or they
 * change the order of what is shown: a stranger's text could use them to look like another.
 */
const UNSEEN = /(?!\n)[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/**
 * Returns a stranger's text with every unseen character as an escape such as `\u202e`, and shortened.
 * @param limit maximum length in characters
 */
export function visible(text: string, limit = 300): string {
  const rest = text.length - limit;
  const cut = rest > 0 ? `${text.slice(0, limit)}… (${String(rest)} more)` : text;
  return cut.replace(UNSEEN, (found) => `\\u${(found.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}

/** The same in one line. */
export function visibleLine(text: string, limit?: number): string {
  return visible(text.replaceAll(/[\n\t ]+/g, ' ').trim(), limit);
}
