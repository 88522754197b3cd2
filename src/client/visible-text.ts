/**
 * Control, format and ignorable characters and two blanks. No font shows them, or they change the order of
 * what is shown: a stranger's text could use them to look like another.
 */
const UNSEEN =
  /(?!\n)[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]/gu;
/** Combining marks at the start of a line, and so many in a row that some of them may be drawn over other lines. */
const MARKS = /(?<=^|\n)\p{M}+|\p{M}{4,}/gu;
/** Marks that have no place of their own, as a vowel sign may have. */
const DRAWN_MARKS = /[\p{Mn}\p{Me}]/gu;
const MAX_STACKED = 3;
const MAX_LOOK = 100;
/** Double quotation marks, and signs that look like them, such as those of inches. */
const QUOTATION_MARKS =
  /["\u00ab\u00bb\u02ba\u02dd\u02ee\u05f4\u201c-\u201f\u2033\u2034\u2036\u2037\u2057\u275d\u275e\u2760\u301d-\u301f\uff02\u{1f676}-\u{1f678}]/gu;

/**
 * Returns a stranger's text as it can be shown beside words of the service: shortened, and with an escape such as
 * `\u202e` for each unseen character and each combining mark that is stacked above three others.
 * @param limit maximum length in UTF-16 code units, before the escapes
 */
export function visible(text: string, limit = 300): string {
  const kept = text.length > limit ? text.slice(0, limit).replace(/[\ud800-\udbff]$/, '') : text;
  const rest = text.length - kept.length;
  const shown = withoutStacks(kept.replace(UNSEEN, escaped));
  return rest > 0 ? `${shown}… (${String(rest)} more)` : shown;
}

/** Does the same in one line, with single spaces. */
export function visibleLine(text: string, limit?: number): string {
  return visible(text.replaceAll(/[\n\t\p{Zs}]+/gu, ' ').trim(), limit);
}

/** Returns a stranger's words as one line in quotation marks, which none in the text can end. */
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
 * @param before the text before it, whose last character may have marks already
 */
export function withoutStacks(text: string, before = ''): string {
  return text.replace(MARKS, (marks, offset: number) => {
    let stacked = stackedAtEnd(offset === 0 ? before.slice(-MAX_LOOK) : text.charAt(offset - 1));
    return marks.replaceAll(DRAWN_MARKS, (mark) => (++stacked > MAX_STACKED ? escaped(mark) : mark));
  });
}

/** Counts the marks on the last character of a text; without such a character there is no place for any. */
function stackedAtEnd(text: string): number {
  if (text === '' || text.endsWith('\n')) return MAX_STACKED;
  return /\p{M}*$/u.exec(text)?.[0].match(DRAWN_MARKS)?.length ?? 0;
}
