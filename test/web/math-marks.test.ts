import { describe, expect, it } from '@jest/globals';
import { DISPLAY_MATH, INLINE_MATH, markMath } from '../../src/web/chat/thread/text/math-marks.js';

/** The text with its formulas as `<i:…>` and `<d:…>`. */
function marked(text: string): string {
  return markMath(text)
    .replaceAll(new RegExp(`(\`+)${INLINE_MATH}(.*?) ?\\1`, 'g'), '<i:$2>')
    .replaceAll(new RegExp(`(\`+)${DISPLAY_MATH}(.*?) ?\\1`, 'g'), '<d:$2>');
}

describe('markMath', () => {
  it.each([
    ['an $x^2$ and \\(y\\)', 'an <i:x^2> and <i:y>'],
    ['$$\na +\n b\n$$ then \\[c\\]', '<d: a + b> then <d:c>'],
    ['one ` and $x$\n\nand $$a`b$$', 'one ` and <i:x>\n\nand <d:a`b>'],
  ])('marks the formulas of %j', (text, expected) => {
    expect(marked(text)).toBe(expected);
  });

  it.each([
    'It costs $5, or $10 with tax.',
    'From $5-$10 to $20',
    'US$5 and CA$7',
    'an open $$ and \\[ and \\(',
    '`$x$` and ``$`y`$``',
    '$a`b$ and $$a`b$$',
    '```sh\necho $a $b$\n```\n',
    '~~~\n$x$\n~~~',
    '```\nstill $written$',
    'escaped \\$x\\$',
    '$$\n\n$$',
    '$$a\n\nb$$',
    `$$${'x'.repeat(5_000)}$$`,
    '',
  ])('leaves %j as it is', (text) => {
    expect(markMath(text)).toBe(text);
  });

  it('takes a time that grows with the length alone', () => {
    for (const part of ['\\[', '$$', '$a', '`', '``` ', '\\(x', '$', '`$`'])
      expect(markMath(part.repeat(50_000)).length).toBeGreaterThan(0);
  });

  it.each([
    ['marks with a distant end', `${'\\['.repeat(1_000_000)}\\]`],
    ['code in one long line', `x${' ```'.repeat(1_000_000)}$`],
  ])('reads %s once', (_name, text) => {
    expect(markMath(text).length).toBeGreaterThan(text.length - 2);
  });
});
