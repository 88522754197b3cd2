import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { JsonBudgetError, parseJson } from '../../../src/http/request/json-budget.js';

const MIB = 1_048_576;

describe('parseJson', () => {
  it('gives what JSON.parse gives, for every value within the budget', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 20 }), (text) => {
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it.each([
    ['arrays', '['.repeat(MIB)],
    ['objects', '{"a":'.repeat(MIB / 5)],
    ['arrays that are closed', `${'['.repeat(101)}${']'.repeat(101)}`],
  ])('refuses %s that are nested too deeply', (_what, text) => {
    expect(() => parseJson(text)).toThrow(JsonBudgetError);
    expect(() => parseJson(text)).toThrow('is nested too deeply: at most 100 levels are read');
  });

  it.each([
    ['elements', `[${'0,'.repeat(MIB / 2)}0]`],
    ['objects', `[${'{},'.repeat(MIB / 3)}{}]`],
    ['names', `{${Array.from({ length: 20_000 }, (_, n) => `"${String(n)}":0`).join(',')}}`],
  ])('refuses too many %s', (_what, text) => {
    expect(() => parseJson(text)).toThrow('has too many values: at most 10000 are read');
  });

  it('does not count what stands in strings, whatever is escaped there', () => {
    const text = JSON.stringify({ a: '[{,'.repeat(20_000), b: '\\"[[[\\\\"'.repeat(10_000), c: ['\\'] });
    expect(parseJson(text)).toEqual(JSON.parse(text));
    expect(parseJson(`${'['.repeat(100)}${']'.repeat(100)}`)).toBeDefined();
  });

  it.each(['', '{', '"', '"\\', '[}', 'nul', '[1,]', '{"a":1'])('leaves %j to the parser', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});
