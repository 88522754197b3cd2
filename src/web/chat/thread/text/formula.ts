import katex from 'katex';

/**
 * Renders a formula as MathML, which needs no fonts and no styles of our own.
 * @throws Error when it is not TeX
 */
export function renderFormula(tex: string, isDisplay: boolean): string {
  const markup = katex.renderToString(tex, {
    ...{ output: 'mathml', displayMode: isDisplay, throwOnError: true, trust: false, strict: 'ignore' },
    ...{ maxExpand: 200, maxSize: 10 },
  });
  // The policy of the page allows no style attributes. The text of the formula has no quotation marks: they are escaped.
  return markup.replace(/ style="[^"]*"/g, '');
}
