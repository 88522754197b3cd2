/** The first characters of a code span that holds a formula. They are private to this page. */
export const INLINE_MATH = '\u{E000}';
export const DISPLAY_MATH = '\u{E001}';

/** Longer text between two marks is not a formula. */
const MAX_FORMULA = 4_000;

interface Marks {
  readonly open: string;
  readonly close: string;
  readonly kind: typeof INLINE_MATH | typeof DISPLAY_MATH;
}

const MARKS: readonly Marks[] = [
  { open: '$$', close: '$$', kind: DISPLAY_MATH },
  { open: '\\[', close: '\\]', kind: DISPLAY_MATH },
  { open: '\\(', close: '\\)', kind: INLINE_MATH },
  { open: '$', close: '$', kind: INLINE_MATH },
];

/** Finds marks in a text from its beginning to its end, and reads the text once for each mark. */
class MarkSearch {
  /** Where each mark was found last. */
  readonly #found = new Map<string, number>();

  constructor(private readonly text: string) {}

  /**
   * Returns where a mark is next; `Infinity`: nowhere.
   * @param from never less than in an earlier call for this mark
   */
  next(mark: string, from: number): number {
    const known = this.#found.get(mark) ?? -1;
    if (known >= from) return known;
    const found = this.text.indexOf(mark, from);
    const next = found === -1 ? Infinity : found;
    this.#found.set(mark, next);
    return next;
  }
}

/**
 * Turns the formulas of a Markdown text into code spans that begin with a mark: `$$…$$`, `\[…\]`, `\(…\)` and `$…$`.
 * Leaves code alone, and dollars that are amounts: a formula in single dollars has no space inside of them, stays on its
 * line, and no digit follows.
 */
export function markMath(text: string): string {
  if (!text.includes('$') && !text.includes('\\')) return text;
  let result = '';
  let at = 0;
  let from = 0;
  const search = new MarkSearch(text);
  while (at < text.length) {
    const code = codeEnd(text, at, search);
    if (code > at) {
      at = code;
      continue;
    }
    const marks = MARKS.find(({ open }) => text.startsWith(open, at));
    const end = marks === undefined ? -1 : formulaEnd(text, at, marks, search);
    if (marks === undefined || end === -1) {
      // An escaped character, which no mark is.
      at += text[at] === '\\' ? 2 : (marks?.open.length ?? 1);
      continue;
    }
    const formula = text.slice(at + marks.open.length, end);
    result += text.slice(from, at) + codeSpan(marks.kind + formula.replace(/\s+/g, ' '));
    at = end + marks.close.length;
    from = at;
  }
  return result + text.slice(from);
}

/** Returns the end of the code that begins here; the same position if none does. */
function codeEnd(text: string, at: number, search: MarkSearch): number {
  const [first] = text.slice(at, at + 1);
  if (first !== '`' && first !== '~') return at;
  let end = at;
  while (text[end] === first) end++;
  const fence = text.slice(at, end);
  const isBlock = fence.length >= 3 && beginsLine(text, at);
  if (first === '~' && !isBlock) return end;
  const close = isBlock ? text.indexOf(`\n${fence}`, end) : search.next(fence, end);
  // A block of code may still be being written.
  if (isBlock) return close === -1 ? text.length : close + 1 + fence.length;
  // Code within a line does not go on in the next paragraph.
  return close === Infinity || search.next('\n\n', end) < close ? end : close + fence.length;
}

/** True if only white space precedes this position in its line. */
function beginsLine(text: string, at: number): boolean {
  let start = at;
  while (start > 0 && /[^\S\n]/.test(text.charAt(start - 1))) start--;
  return start === 0 || text[start - 1] === '\n';
}

/** Returns where the closing mark of a formula is; -1: there is no formula. */
function formulaEnd(text: string, at: number, { open, close }: Marks, search: MarkSearch): number {
  const start = at + open.length;
  const end = search.next(close, start);
  if (end - start > MAX_FORMULA) return -1;
  const formula = text.slice(start, end);
  if (formula.trim() === '') return -1;
  if (open !== '$') return search.next('\n\n', start) < end ? -1 : end;
  const isTight = !/^\s|\s$|\n|`/.test(formula);
  return isTight && !/[\d\p{L}$]/u.test(text.slice(end + 1, end + 2)) ? end : -1;
}

function codeSpan(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${text}${text.endsWith('`') ? ' ' : ''}${fence}`;
}
