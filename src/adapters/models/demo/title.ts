import type { PromptMessage } from '../../../core/ports/rig.js';

const MAX_WORDS = 6;
const MAX_LENGTH = 48;

/** Makes a title from the first words of the first user message, without markup; '' when it has none. */
export function makeTitle(messages: readonly PromptMessage[]): string {
  const first = messages.find(({ role }) => role === 'user')?.content ?? '';
  const words = first
    .replace(/^\s*\/tool\s+/, '')
    .replace(/["'“”‘’`#_{}[\]]+/g, ' ')
    // Removes emphasis, but not multiplication signs.
    .replace(/(?<![^\s.,;:!?])\*+|\*+(?![^\s.,;:!?])/g, ' ')
    .split(/\s+/)
    .filter((word) => word !== '');
  const title = Array.from(words.slice(0, MAX_WORDS).join(' '))
    .slice(0, MAX_LENGTH)
    .join('')
    .replace(/[\s.,;:!?-]+$/, '');
  return title.charAt(0).toUpperCase() + title.slice(1);
}
