import type { PromptMessage } from '../../../core/ports/rig.js';

const MAX_WORDS = 6;
const MAX_LENGTH = 48;

/** A title from the first user message: its first few words, without marks around them; '' when it has none. */
export function makeTitle(messages: readonly PromptMessage[]): string {
  const first = messages.find(({ role }) => role === 'user')?.content ?? '';
  const words = first
    .replace(/^\s*\/tool\s+/, '')
    .replace(/["'“”‘’`#_{}[\]]+/g, ' ')
    // Emphasis, but not the sign of a product.
    .replace(/(?<![^\s.,;:!?])\*+|\*+(?![^\s.,;:!?])/g, ' ')
    .split(/\s+/)
    .filter((word) => word !== '');
  const title = Array.from(words.slice(0, MAX_WORDS).join(' '))
    .slice(0, MAX_LENGTH)
    .join('')
    .replace(/[\s.,;:!?-]+$/, '');
  return title.charAt(0).toUpperCase() + title.slice(1);
}
