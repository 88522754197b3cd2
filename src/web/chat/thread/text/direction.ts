import type { ElementContent, Root, RootContent } from 'hast';

/** The blocks that have a direction of their own. */
const BLOCKS = new Set([
  ...['p', 'ul', 'ol', 'li', 'blockquote', 'table', 'th', 'td'],
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'],
]);

/** Letters of scripts that are written from right to left, such as Hebrew and Arabic. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const LETTER = /\p{L}/u;

/**
 * A plugin of rehype: gives each block the direction of its first letter. `dir="auto"` would not do for a list or a
 * table, because browsers then skip the blocks in it that have a `dir`.
 */
export function rehypeDirection() {
  return (tree: Root): void => {
    for (const node of tree.children) mark(node);
  };
}

function mark(node: RootContent | ElementContent): void {
  if (node.type !== 'element') return;
  const direction = BLOCKS.has(node.tagName) ? directionOf(node) : undefined;
  if (direction !== undefined) node.properties.dir = direction;
  for (const child of node.children) mark(child);
}

/** Returns the direction of the first letter; undefined: there is none. Code does not count: it has its own. */
function directionOf(node: RootContent | ElementContent): 'ltr' | 'rtl' | undefined {
  if (node.type === 'text') {
    const letter = LETTER.exec(node.value)?.[0];
    if (letter === undefined) return undefined;
    return RIGHT_TO_LEFT.test(letter) ? 'rtl' : 'ltr';
  }
  if (node.type !== 'element' || node.tagName === 'code') return undefined;
  for (const child of node.children) {
    const direction = directionOf(child);
    if (direction !== undefined) return direction;
  }
  return undefined;
}
