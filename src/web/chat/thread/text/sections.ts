import {
  fenceAfter,
  fenceOf,
  indentOf,
  isBlank,
  isClosedBy,
  linesOf,
  marksOf,
  MAX_INDENT,
  type Fence,
} from './lines.js';

/** A definition of a footnote or a link, which all of a text may refer to (CommonMark 0.31 §4.7). */
const DEFINITION =
  /^(?:[ \t>]|[-+*][ \t]|\d{1,9}[.)][ \t])*\[(?:\^[^\]]+\]:|(?:[^\]\\]|\\.)+\]:[ \t]*(?:[<"'(]|$|[^ \t]\S*[ \t]*(?:["'(]|$)))/;

/**
 * Splits a Markdown text into sections that can be parsed one by one: at blank lines, but not within code, lists and
 * what is indented. A text that grows at its end keeps its sections, except for the last two. One with definitions is
 * one section. Where it depends on the items of a list whether a line is code, the rest is one section.
 */
export function sectionsOf(text: string): readonly string[] {
  const lines = linesOf(text);
  const sections: string[] = [];
  let start = 0;
  /** True if a list may be open. */
  let isInList = false;
  let fence: Fence | undefined;
  /** True once it is not known whether a line is code. */
  let isUnsure = false;
  for (const [index, line] of lines.entries()) {
    isUnsure ||= isInList && fence !== undefined && mayLeave(fence, line);
    const isCode = fence !== undefined && !isUnsure;
    if (!isCode && DEFINITION.test(line)) return [text];
    if (isUnsure) continue;
    if (!isCode) {
      const { count, end } = marksOf(line);
      // A quote ends before a blank line.
      const isItem = count > 0 && !/^[ \t]*>/.test(line);
      if (index > 0 && isBlank(lines[index - 1] ?? '') && /^\S/.test(line) && !(isInList && isItem)) {
        sections.push(lines.slice(start, index).join('\n'));
        start = index;
        isInList = false;
      }
      isInList ||= isItem;
      // A fence right after the mark of an item may be text of a paragraph.
      isUnsure = isItem && !line.slice(0, end).includes('>') && fenceOf(line.slice(end)) !== undefined;
    }
    fence = fenceAfter(line, fence, isInList ? Infinity : MAX_INDENT);
  }
  return [...sections, lines.slice(start).join('\n')];
}

/** True if it depends on the items that are open whether a line belongs to the code of a list, or closes it. */
function mayLeave(fence: Fence, line: string): boolean {
  const indent = indentOf(line);
  if (isBlank(line)) return false;
  return indent < fence.indent || (indent > fence.indent && isClosedBy(fence, line));
}
