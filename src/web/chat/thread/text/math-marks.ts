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
  // Where the search for a closing mark was in vain: it would be again.
  const vain = new Set<string>();
  while (at < text.length) {
    const code = codeEnd(text, at, vain);
    if (code > at) {
      at = code;
      continue;
    }
    const marks = MARKS.find(({ open }) => text.startsWith(open, at));
    const end = marks === undefined ? -1 : formulaEnd(text, at, marks, vain);
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
function codeEnd(text: string, at: number, vain: Set<string>): number {
  const [first] = text.slice(at, at + 1);
  if (first !== '`' && first !== '~') return at;
  let end = at;
  while (text[end] === first) end++;
  const fence = text.slice(at, end);
  const isBlock = fence.length >= 3 && text.slice(text.lastIndexOf('\n', at - 1) + 1, at).trim() === '';
  if (first === '~' && !isBlock) return end;
  if (vain.has(fence)) return end;
  const close = isBlock ? text.indexOf(`\n${fence}`, end) : text.indexOf(fence, end);
  // A block of code may still be being written.
  if (isBlock) return close === -1 ? text.length : close + 1 + fence.length;
  if (close === -1) vain.add(fence);
  // Code within a line does not go on in the next paragraph.
  return close === -1 || text.slice(end, close).includes('\n\n') ? end : close + fence.length;
}

/** Returns where the closing mark of a formula is; -1: there is no formula. */
function formulaEnd(text: string, at: number, { open, close }: Marks, vain: Set<string>): number {
  const start = at + open.length;
  if (vain.has(close)) return -1;
  const end = text.indexOf(close, start);
  if (end === -1) {
    vain.add(close);
    return -1;
  }
  const formula = text.slice(start, end);
  if (formula.length > MAX_FORMULA || formula.trim() === '') return -1;
  if (open !== '$') return formula.includes('\n\n') ? -1 : end;
  const isTight = !/^\s|\s$|\n|`/.test(formula);
  return isTight && !/[\d\p{L}$]/u.test(text.slice(end + 1, end + 2)) ? end : -1;
}

function codeSpan(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${text}${text.endsWith('`') ? ' ' : ''}${fence}`;
}
