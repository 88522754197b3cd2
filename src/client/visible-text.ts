/**
 * Control, format and default-ignorable characters, and two blank symbols. They are invisible or reorder the text
 * around them, so that untrusted text could look like something else.
 */
const UNSEEN =
  /(?!\n)[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]/gu;
/** Combining marks at the start of a line, and runs of more than three, which may be drawn over other lines. */
const MARKS = /(?<=^|\n)\p{M}+|\p{M}{4,}/gu;
/** Marks that take no width, unlike spacing marks such as some vowel signs. */
const DRAWN_MARKS = /[\p{Mn}\p{Me}]/gu;
const MAX_STACKED = 3;
/** How many characters before a text are searched for marks. */
const MAX_LOOKBEHIND = 100;
/** Double quotation marks, and characters that look like them, such as the double prime (″). */
const QUOTATION_MARKS =
  /["\u00ab\u00bb\u02ba\u02dd\u02ee\u05f4\u201c-\u201f\u2033\u2034\u2036\u2037\u2057\u275d\u275e\u2760\u301d-\u301f\uff02\u{1f676}-\u{1f678}]/gu;

/**
 * Makes untrusted text safe to show beside text of the service: shortens it, and escapes (`\u202e`) each invisible
 * character and each combining mark that is stacked above three others.
 * @param limit maximum length in UTF-16 code units, before the escapes
 */
export function visible(text: string, limit = 300): string {
  const kept = text.length > limit ? text.slice(0, limit).replace(/[\ud800-\udbff]$/, '') : text;
  const rest = text.length - kept.length;
  const shown = withoutStacks(kept.replace(UNSEEN, escaped));
  return rest > 0 ? `${shown}… (${String(rest)} more)` : shown;
}

/** Like `visible`, in one line and with single spaces. */
export function visibleLine(text: string, limit?: number): string {
  return visible(text.replaceAll(/[\n\t\p{Zs}]+/gu, ' ').trim(), limit);
}

/** Returns untrusted text as one line in quotation marks. Replaces quotation marks in the text, which could end it. */
export function quoted(text: string, limit?: number): string {
  return `“${visibleLine(text.replaceAll(QUOTATION_MARKS, "'"), limit)}”`;
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const digits = code.toString(16);
  return code > 0xffff ? `\\u{${digits}}` : `\\u${digits.padStart(4, '0')}`;
}

/**
 * Escapes combining marks that are stacked above three others.
 * @param before the text that precedes `text`; its last character may already have marks
 */
export function withoutStacks(text: string, before = ''): string {
  return text.replace(MARKS, (marks, offset: number) => {
    let stacked = stackedAtEnd(offset === 0 ? before.slice(-MAX_LOOKBEHIND) : text.charAt(offset - 1));
    return marks.replaceAll(DRAWN_MARKS, (mark) => (++stacked > MAX_STACKED ? escaped(mark) : mark));
  });
}

/** Counts the marks on the last character of a text. Returns `MAX_STACKED` if there is no character to carry a mark. */
function stackedAtEnd(text: string): number {
  if (text === '' || text.endsWith('\n')) return MAX_STACKED;
  return /\p{M}*$/u.exec(text)?.[0].match(DRAWN_MARKS)?.length ?? 0;
}
