import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonValue } from '../../../src/core/model/json.js';
import { resultText } from '../../../src/core/model/message.js';
import { PatternMatcher } from '../../../src/core/tools/pattern-matcher.js';
import { Scrubber } from '../../../src/core/tools/redaction.js';
import { objectOf } from '../../support/house.js';
import { listOf } from '../../support/snapshot.js';

const secrets = (values: Record<string, string>) => new Map(Object.entries(values));
const scrub = (value: JsonValue, known: ReadonlyMap<string, string>) =>
  Scrubber.ofSecrets(known).value(value);

describe('Scrubber', () => {
  it('gives back the very value when there is nothing to hide', () => {
    const value = { a: [1, 'two', null, true] };
    expect(scrub(value, new Map())).toBe(value);
    expect(scrub(value, secrets({ KEY: 'hunter2-value' }))).toEqual(value);
  });

  it('replaces a secret in texts, keys, arrays and numbers, wherever it is nested', () => {
    const value = { 'at s3cret': [{ deep: 'x s3cret y s3crets3cret' }], pin: 912349, other: 5, no: null };
    expect(scrub(value, secrets({ KEY: 's3cret', PIN: '1234' }))).toEqual({
      'at $SECRET:KEY': [{ deep: 'x $SECRET:KEY y $SECRET:KEY$SECRET:KEY' }],
      pin: '9$SECRET:PIN9',
      other: 5,
      no: null,
    });
  });

  it('takes the longest where one secret begins with another', () => {
    expect(scrub('ab abc', secrets({ SHORT: 'ab', LONG: 'abc' }))).toBe('$SECRET:SHORT $SECRET:LONG');
  });

  it('leaves no part of a secret where two overlap', () => {
    expect(scrub('.abcdef.', secrets({ A: 'abcd', B: 'cdef' }))).toBe('.$SECRET:A.');
    // Through a third one.
    expect(scrub('.abcdefgh.', secrets({ A: 'abcd', B: 'cdef', C: 'efgh' }))).toBe('.$SECRET:A.');
    // A later occurrence inside reaches further than the first one.
    expect(scrub('.xababab-.', secrets({ A: 'xabab', B: 'ab' }))).toBe('.$SECRET:A$SECRET:B-.');
    expect(scrub('.xabab-.', secrets({ A: 'xaba', B: 'ab' }))).toBe('.$SECRET:A-.');
  });

  it('does not mistake a handle for another secret', () => {
    expect(scrub('key', secrets({ KEY: 'key', S: 'SECRET', D: '$' }))).toBe('$SECRET:KEY');
  });

  it('knows no pattern and no replacement in a secret', () => {
    expect(scrub('a.c abc $& $1', secrets({ DOT: 'a.c', AND: '$&', $1: '$1' }))).toBe(
      '$SECRET:DOT abc $SECRET:AND $SECRET:$1',
    );
  });

  it('finds the whole of a longer secret in the usual encodings', () => {
    const value = 'p@ss"w\\ord/?é';
    const bytes = Buffer.from(value);
    const forms = [
      value,
      JSON.stringify(value),
      encodeURIComponent(value),
      bytes.toString('base64'),
      bytes.toString('base64url'),
      bytes.toString('hex'),
    ];
    const said = scrub(forms.join(' '), secrets({ K: value }));
    expect(said).toBe('$SECRET:K "$SECRET:K" $SECRET:K $SECRET:K $SECRET:K $SECRET:K');
  });

  it('is data for a client that names a key __proto__', () => {
    const value = objectOf(JSON.parse('{"__proto__": {"x": "s3cret"}}'));
    expect(JSON.stringify(scrub(value, secrets({ __proto__x: 's3cret' })))).toBe(
      '{"__proto__":{"x":"$SECRET:__proto__x"}}',
    );
  });

  it('does not grow without bound, whatever the secrets are', () => {
    const letters = Array.from('$SECRET:abcdefghijklmnopqrstuvwxyz');
    const many = new Map(letters.map((letter, n) => [`${'a'.repeat(100)}${String(n)}`, letter]));
    const text = scrub('abc '.repeat(100_000), many);
    expect(typeof text === 'string' && text.length).toBeLessThan(1_600_000);
    expect(text).not.toMatch(/abc $/);
  });

  it('leaves out what is nested too deeply', () => {
    let value: JsonValue = 's3cret-value';
    for (let depth = 0; depth < 100_000; depth++) value = [value];
    let found: unknown = scrub(value, secrets({ K: 's3cret-value' }));
    while (Array.isArray(found)) [found] = listOf(found);
    expect(found).toBe('[nested too deeply]');
  });

  it('leaves nothing of any secret in any text', () => {
    const letter = fc.constantFrom('a', 'b', 'c');
    const word = fc.string({ unit: letter, minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1, maxLength: 4 }),
        fc.string({ unit: letter }),
        (values, text) => {
          // Handles without a letter of the alphabet, so that what is left is the text's own.
          const known = new Map(values.map((value, n) => [String(n), value]));
          const said = resultText(scrub(text, known));
          const rest = said.split(/\$SECRET:\d/);
          return rest.every((piece) => values.every((value) => !piece.includes(value)));
        },
      ),
    );
  });
});

describe('Scrubber.result', () => {
  const result = (text: string, known: Record<string, string>, maxBytes: number) =>
    Scrubber.ofSecrets(secrets(known)).result(text, maxBytes);

  it('removes a secret that crosses the cut', () => {
    const text = `${'x'.repeat(95)}hunter2-value${'y'.repeat(200)}`;
    expect(result(text, { KEY: 'hunter2-value' }, 100)).toBe(
      `${'x'.repeat(95)}$SECR… [cut: the result has 308 bytes]`,
    );
  });

  it('shows nothing of a secret behind the cut, however much shorter the shown part became', () => {
    const text = 'hunter2-value'.repeat(100);
    expect(result(text, { K: 'hunter2-value' }, 200)).toBe(
      `${'$SECRET:K'.repeat(16)}… [cut: the result has 1300 bytes]`,
    );
  });

  it('finds a short secret in the JSON text of a result that is cut', () => {
    const cut = Scrubber.ofSecrets(secrets({ PIN: '1"2' })).result(['1"2', 'x'.repeat(100)], 50);
    expect(cut).toMatch(/^\["\$SECRET:PIN","x+… \[cut: the result has 111 bytes\]$/);
  });

  it('cuts between characters, and keeps replacement characters of the result itself', () => {
    expect(result('\uFEFF' + '\uFFFD'.repeat(40), {}, 100)).toBe(
      `\uFEFF${'\uFFFD'.repeat(32)}… [cut: the result has 123 bytes]`,
    );
    expect(result('😀'.repeat(4), {}, 15)).toBe('😀😀😀… [cut: the result has 16 bytes]');
  });

  it('leaves no secret in any text, wherever it is cut', () => {
    const letter = fc.constantFrom('a', 'b', 'c');
    const word = fc.string({ unit: letter, minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1, maxLength: 5 }),
        fc.string({ unit: letter, maxLength: 60 }),
        fc.integer({ min: 1, max: 60 }),
        (values, text, maxBytes) => {
          const known = new Map(values.map((value, n) => [String(n), value]));
          const shown = resultText(Scrubber.ofSecrets(known).result(text, maxBytes)).replace(
            /… \[cut.*$/,
            '',
          );
          const covered = coveredBy(values, text);
          const rest = shown.replaceAll(/\$(?:SECRET:?\d?|SECRE|SECR|SEC|SE|S)?/g, '');
          const shownPlaces = Array.from(text.slice(0, maxBytes), (_, at) => at);
          return rest.length <= shownPlaces.filter((at) => !covered.has(at)).length;
        },
      ),
    );
  });
});

/** The places of a text that any of these words covers. */
function coveredBy(words: readonly string[], text: string): ReadonlySet<number> {
  const covered = new Set<number>();
  for (const word of words) {
    for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
      for (let inside = at; inside < at + word.length; inside++) covered.add(inside);
    }
  }
  return covered;
}

describe('PatternMatcher', () => {
  it('covers what a search for each pattern covers', () => {
    const letter = fc.constantFrom('a', 'b');
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: letter, maxLength: 5 }), { maxLength: 6 }),
        fc.string({ unit: letter, maxLength: 40 }),
        (patterns, text) => {
          const found = new PatternMatcher(patterns).find(text);
          const covered = new Set(
            found.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, n) => start + n)),
          );
          expect([...covered].sort((a, b) => a - b)).toEqual(
            [
              ...coveredBy(
                patterns.filter((pattern) => pattern !== ''),
                text,
              ),
            ].sort((a, b) => a - b),
          );
          for (const { start, pattern } of found) {
            const longest = patterns
              .filter((word) => text.startsWith(word, start))
              .sort((a, b) => b.length - a.length)[0];
            expect(patterns[pattern]).toBe(longest);
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('takes steps in proportion to the text and the patterns, however alike they are', () => {
    const patterns = Array.from({ length: 256 }, (_, n) => `${'a'.repeat(100 + n)}b`);
    const matcher = new PatternMatcher(patterns);
    const total = patterns.join('').length;
    expect(matcher.steps).toBeLessThanOrEqual(2 * total);
    const before = matcher.steps;
    const text = 'a'.repeat(100_000);
    expect(matcher.find(text)).toEqual([]);
    expect(matcher.steps - before).toBeLessThanOrEqual(2 * text.length);
  });
});
