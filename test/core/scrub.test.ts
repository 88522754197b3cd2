import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonValue } from '../../src/core/json.js';
import { resultText } from '../../src/core/message.js';
import { scrub } from '../../src/core/scrub.js';
import { objectOf } from '../support/house.js';
import { listOf } from '../support/snapshot.js';

const secrets = (values: Record<string, string>) => new Map(Object.entries(values));

describe('scrub', () => {
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

  it('takes no handle for another secret', () => {
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

  it('is data for whoever names a key __proto__', () => {
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
