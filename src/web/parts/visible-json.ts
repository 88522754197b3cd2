import { visible } from '../../client/visible-text.js';

/** Escapes the invisible characters of a text that a stranger may have written, except for tabs and line breaks. */
export function visibleText(text: string): string {
  return text
    .split(/(\t|\r?\n)/)
    .map((part, index) => (index % 2 === 0 ? visible(part, Infinity) : part))
    .join('');
}

/**
 * Formats a value as JSON with visible characters. It stays JSON: an escape above U+FFFF is a surrogate pair, not
 * `\u{…}`.
 * @param indent spaces per level; 0: one line
 */
export function visibleJson(value: unknown, indent = 2): string {
  return visibleText(JSON.stringify(value, null, indent)).replace(
    /\\\\|\\u\{(.+?)\}/g,
    (found: string, digits: string | undefined) => {
      if (digits === undefined) return found;
      const pair = String.fromCodePoint(parseInt(digits, 16));
      return [0, 1].map((at) => `\\u${pair.charCodeAt(at).toString(16)}`).join('');
    },
  );
}
