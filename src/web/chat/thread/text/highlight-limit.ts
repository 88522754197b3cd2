/** The highlighter looks for words and types from each character of a word: longer code and longer words stay plain. */
const MAX_CODE = 10_000;
const LONG_WORD = /[\w$@]{160}|[^\n]{1000}/;

/** True if code is not empty, and is highlighted within a bounded time. */
export function canHighlight(code: string): boolean {
  return code !== '' && code.length <= MAX_CODE && !LONG_WORD.test(code);
}
