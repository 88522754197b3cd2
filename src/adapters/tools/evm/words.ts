import type { JsonValue } from '../../../core/model/json.js';

const MAX_INPUT = 60;
const MAX_FOREIGN = 300;

/** An argument as an error shows it: short. */
export function shown(value: JsonValue | undefined): string {
  const text = JSON.stringify(value ?? null);
  return text.length > MAX_INPUT ? `${text.slice(0, MAX_INPUT)}…` : text;
}

/** Text that a contract gave, which anybody may have written: one line, of bounded length. */
export function tamed(text: string, max = MAX_FOREIGN): string {
  // More than is shown, since spaces are taken out; never all of a text of any length.
  const line = text
    .slice(0, 4 * max)
    .replaceAll(/[\p{C}\p{Z}]+/gu, ' ')
    .trim();
  return line.length > max || text.length > 4 * max ? `${line.slice(0, max)}…` : line;
}
