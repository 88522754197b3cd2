import type { JsonValue } from '../../../core/model/json.js';

const MAX_INPUT = 60;
const MAX_FOREIGN = 300;

/** Formats an argument for an error message, truncated. */
export function shown(value: JsonValue | undefined): string {
  const text = JSON.stringify(value ?? null);
  return text.length > MAX_INPUT ? `${text.slice(0, MAX_INPUT)}…` : text;
}

/** Sanitizes untrusted text from a contract: one line, of at most `max` characters. */
export function tamed(text: string, max = MAX_FOREIGN): string {
  // Slice first, so that the work stays bounded; keep a surplus, since collapsing spaces shortens the text.
  const line = text
    .slice(0, 4 * max)
    .replaceAll(/[\p{C}\p{Z}]+/gu, ' ')
    .trim();
  return line.length > max || text.length > 4 * max ? `${line.slice(0, max)}…` : line;
}
