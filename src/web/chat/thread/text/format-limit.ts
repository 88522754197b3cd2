import { formattingWork } from './formatting-work.js';
import { markMath } from './math-marks.js';
import { sectionsOf } from './sections.js';

/** The work of rendering one text, in units of a character of prose. The rest of the text is shown as it is. */
const MAX_WORK = 500_000;

/** A section of a text that is rendered. */
export interface Section {
  readonly text: string;
  /** The text with its formulas marked. */
  readonly markdown: string;
  readonly work: number;
}

interface Limited {
  readonly sections: readonly Section[];
  /** The sections, and the one that exceeds the limit. */
  readonly estimates: readonly Section[];
  readonly rest: string;
}

/**
 * Divides a text into the sections that are rendered, and the rest: from the section on with which the work exceeds the
 * limit.
 * @param known the estimates of an earlier version of the text: sections that did not change are not estimated again
 */
export function limited(text: string, known: readonly Section[] = []): Limited {
  const texts = sectionsOf(text);
  const estimates: Section[] = [];
  let work = 0;
  for (const [index, one] of texts.entries()) {
    const before = known[index];
    const section = before?.text === one ? before : estimated(one);
    estimates.push(section);
    work += section.work;
    if (work > MAX_WORK)
      return { estimates, sections: estimates.slice(0, -1), rest: texts.slice(index).join('\n') };
  }
  return { estimates, sections: estimates, rest: '' };
}

function estimated(text: string): Section {
  const markdown = markMath(text);
  return { text, markdown, work: formattingWork(markdown) };
}
