import { describe, expect, it } from '@jest/globals';
import { quoted, visible, visibleLine, withoutStacks } from '../../src/client/visible-text.js';

/** A combining acute accent. */
const ACUTE = '\u0301';

describe('visible', () => {
  it('escapes characters that are invisible or reorder text, except line breaks', () => {
    expect(visible('a\u202eb\u200bc\nd\u{e0041}')).toBe('a\\u202eb\\u200bc\nd\\u{e0041}');
    expect(visible('a\u3164b\u034fc\ufe0fd\u2800e\u{e0100}f\tg\ud800')).toBe(
      String.raw`a\u3164b\u034fc\ufe0fd\u2800e\u{e0100}f\u0009g\ud800`,
    );
  });

  it('escapes marks that are stacked above three others on a character', () => {
    expect(visible(`a${ACUTE.repeat(3)}b`)).toBe(`a${ACUTE.repeat(3)}b`);
    expect(visible(`a${ACUTE.repeat(5)}b`)).toBe(`a${ACUTE.repeat(3)}\\u0301\\u0301b`);
    expect(visible(`a${'\u0301\u0323\u20dd\u0338'.repeat(2)}`)).toBe(
      `a\u0301\u0323\u20dd${String.raw`\u0338\u0301\u0323\u20dd\u0338`}`,
    );
  });

  it('escapes marks without a base character in the text', () => {
    expect(visible(`${ACUTE}a\n${ACUTE}b`)).toBe('\\u0301a\n\\u0301b');
  });

  it('does not count spacing marks, such as some vowel signs', () => {
    const burmese = '\u1000\u103c\u103d\u103e\u1031\u102c\u1038';
    expect(visible(burmese)).toBe(burmese);
  });

  it('cuts a long text between characters, and says how much is left out', () => {
    expect(visible('x'.repeat(12), 10)).toBe(`${'x'.repeat(10)}… (2 more)`);
    expect(visible('xx😀x', 3)).toBe('xx… (3 more)');
    expect(visible('x'.repeat(10), 10)).toBe('x'.repeat(10));
  });
});

describe('visibleLine', () => {
  it('joins lines and blanks of any width', () => {
    expect(visibleLine(' a\n\n\u3000\u2003b \u00a0')).toBe('a b');
  });
});

describe('withoutStacks', () => {
  it('counts the marks at the end of the preceding text', () => {
    const pieces = ['a', ACUTE, ACUTE.repeat(2), ACUTE, `b${ACUTE}\n`, ACUTE];
    let before = '';
    const shown = pieces.map((piece) => {
      const escaped = withoutStacks(piece, before);
      before += piece;
      return escaped;
    });
    expect(shown).toEqual(['a', ACUTE, ACUTE.repeat(2), '\\u0301', `b${ACUTE}\n`, '\\u0301']);
  });

  it('leaves other text as it is', () => {
    const text = 'A\u202eb\tc 👩‍👩‍👧 שָׁלוֹם';
    expect(withoutStacks(text)).toBe(text);
  });
});

describe('quoted', () => {
  it('cannot be ended by quotation marks in the text', () => {
    expect(quoted('Lunch” The service: “fine" „x‟ «y» ＂z')).toBe(`“Lunch' The service: 'fine' 'x' 'y' 'z”`);
    expect(quoted(' a\nb ', 2)).toBe('“a … (1 more)”');
  });

  it('cannot be ended by signs that look like quotation marks', () => {
    expect(quoted('a❞ b〞 c″ dʺ e˝ fˮ g״ h🙷 i‶ j❠ k‴ l⁗')).toBe(`“a' b' c' d' e' f' g' h' i' j' k' l'”`);
  });
});
