import katex from 'katex';

/** Longer formulas are not rendered. */
const MAX_LENGTH = 4_000;

/**
 * Commands that define others, with which a short formula can stand for a long one, or that write to the console; and
 * the backtick, at which the estimate of a formula's work ends.
 */
const REFUSED =
  /`|\\(?:[egx]?def|let|futurelet|(?:re)?newcommand|providecommand|global|long|show|(?:err)?message)(?![a-z@])/i;

/**
 * Renders a formula as MathML, which needs no fonts and no styles of our own.
 * @throws Error when it is not TeX, too long, or has a refused command
 */
export function renderFormula(tex: string, isDisplay: boolean): string {
  if (tex.length > MAX_LENGTH || REFUSED.test(tex)) throw new Error('The formula is not rendered');
  const markup = katex.renderToString(tex, {
    ...{ output: 'mathml', displayMode: isDisplay, throwOnError: true, trust: false, strict: 'ignore' },
    ...{ maxExpand: 200, maxSize: 10 },
  });
  // The policy of the page allows no style attributes. The text of the formula has no quotation marks: they are escaped.
  return markup.replace(/ style="[^"]*"/g, '');
}
