import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createSchemas } from '../../src/adapters/tools/schema/schemas.js';
import { builtinTools } from '../../src/adapters/tools/builtin/tools.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/core/model/json.js';
import { resultText } from '../../src/core/model/message.js';
import type { ToolContext } from '../../src/core/ports/tool.js';

const NEW_YEAR = Date.UTC(2026, 0, 1);
const context: ToolContext = {
  sessionId: '00000000-0000-4000-8000-000000000000',
  callId: 'call',
  turn: null,
  app: 'default',
  wallet: null,
  userState: null,
  secrets: new Map(),
  signal: new AbortController().signal,
  progress: () => undefined,
};
const tools = builtinTools({ now: () => NEW_YEAR });

async function run(name: string, args: JsonObject): Promise<JsonValue> {
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return tool.run(args, context);
}

async function calculated(expression: string): Promise<string> {
  const result = await run('calculate', { expression });
  expect(result).toEqual({ expression, result: expect.any(String) });
  return isJsonObject(result) ? resultText(result.result ?? null) : '';
}

/** Its result, or the words of its failure. */
function outcomeOf(expression: string): Promise<string> {
  return calculated(expression).catch((error: unknown) => `refused: ${String(error)}`);
}

describe('the built-in tools', () => {
  it('are get_time and calculate, without side effects, with schemas that compile', () => {
    expect(tools.map(({ name }) => name)).toEqual(['get_time', 'calculate']);
    const schemas = createSchemas();
    for (const tool of tools) {
      expect(tool.sideEffects).toBe('none');
      expect(schemas.compile(tool.parameters)({ unknown: 1 })).not.toEqual([]);
    }
  });
});

describe('get_time', () => {
  it.each([
    [{}, { iso: '2026-01-01T00:00:00Z', timezone: 'UTC' }],
    [{ timezone: '' }, { iso: '2026-01-01T00:00:00Z', timezone: 'UTC' }],
    [{ timezone: 'utc' }, { iso: '2026-01-01T00:00:00Z', timezone: 'UTC' }],
    [{ timezone: 'Asia/Tokyo' }, { iso: '2026-01-01T09:00:00+09:00', timezone: 'Asia/Tokyo' }],
    [{ timezone: 'Asia/Kolkata' }, { iso: '2026-01-01T05:30:00+05:30', timezone: 'Asia/Kolkata' }],
    [{ timezone: 'America/New_York' }, { iso: '2025-12-31T19:00:00-05:00', timezone: 'America/New_York' }],
  ])('of %j', async (args, expected) => {
    expect(await run('get_time', args)).toMatchObject(expected);
  });

  it('returns it in words', async () => {
    expect(await run('get_time', { timezone: 'Asia/Tokyo' })).toMatchObject({
      text: '09:00:00 on Thursday, 1 January 2026 (Asia/Tokyo, UTC+09:00)',
    });
  });

  it.each([
    ['Atlantis', 'Atlantis'],
    ['a path', '../etc/passwd'],
    ['a long one', 'x'.repeat(10_000)],
  ])('refuses %s', async (_, timezone) => {
    const failure = await run('get_time', { timezone }).catch((error: unknown) => String(error));
    expect(failure).toMatch(/There is no time zone ".{1,61}"\. Use an IANA name such as "Europe\/Berlin"/);
  });

  it('refuses a zone that is no text', async () => {
    await expect(run('get_time', { timezone: 9 })).rejects.toThrow('must be a string');
  });
});

describe('calculate', () => {
  it.each([
    ['12*(3+4)', '84'],
    ['0.1+0.2', '0.3'],
    ['1/3*3', '1'],
    ['1/3', '0.33333333333333333333333333333333'],
    ['2^64', '18446744073709551616'],
    ['2^256-1', '115792089237316195423570985008687907853269984665640564039457584007913129639935'],
    ['2**10', '1024'],
    ['123456789012345678901234567890+1', '123456789012345678901234567891'],
    ['0.1234567890123456789+0', '0.1234567890123456789'],
    ['-2^2', '-4'],
    ['2^3^2', '512'],
    ['5!', '120'],
    ['30!', '265252859812191058636308480000000'],
    ['100!', '9.3326215443944152681699238856267e+157'],
    ['10%', '0.1'],
    ['100+5%', '105'],
    ['(100+5%)+3', '108'],
    ['200*15%', '30'],
    ['8%3', '2'],
    ['-1 mod 3', '2'],
    ['2(3+4)', '14'],
    ['6×7', '42'],
    ['7÷2', '3.5'],
    ['5−3', '2'],
    ['sqrt(16)', '4'],
    ['cbrt(27)', '3'],
    ['round(2.567, 2)', '2.57'],
    ['log(100, 10)', '2'],
    ['ln(e)', '1'],
    ['log2(8)', '3'],
    ['sin(pi)', '0'],
    ['cos(0)', '1'],
    ['atan(1)*4-pi', '0'],
    ['max(1,5,3)', '5'],
    ['min(2,-1)', '-1'],
    ['mean(1,2,3,4)', '2.5'],
    ['gcd(12,18)', '6'],
    ['lcm(4,6)', '12'],
    ['floor(-1.5)', '-2'],
    ['sign(-3)', '-1'],
    ['0x1F', '31'],
    ['1e-9', '0.000000001'],
    ['-0', '0'],
  ])('%s = %s', async (expression, expected) => {
    expect(await calculated(expression)).toBe(expected);
  });

  it.each([
    ['', 'empty'],
    ['2+', 'cannot be read'],
    ['1,000+1', 'cannot be read'],
    ['100 + 5% + 3', 'Percent or remainder'],
    ['1/0', 'Division by zero'],
    ['5 mod 0', 'Division by zero'],
    ['0^-1', 'Division by zero'],
    ['sqrt(-1)', 'not a real number'],
    ['asin(2)', 'not a real number'],
    ['5 cm', 'The name "cm" is unknown'],
    ['foo(3)', 'no function foo'],
    ['sqrt(1,2)', 'does not take 2 arguments'],
    ['1 == 1', 'no operator =='],
    ['2.5!', 'whole number'],
    ['gcd(1.5, 2)', 'whole numbers'],
    ['round(1, 99)', 'decimal places'],
  ])('says what is wrong with %j', async (expression, words) => {
    await expect(calculated(expression)).rejects.toThrow(words);
  });

  it('agrees with integers', async () => {
    const integers = fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n });
    await fc.assert(
      fc.asyncProperty(integers, integers, integers, async (a, b, c) => {
        const text = `(${a.toString()}) * (${b.toString()}) - (${c.toString()})`;
        expect(await calculated(text)).toBe((a * b - c).toString());
      }),
    );
  });

  it('answers or refuses whatever comes', async () => {
    const pieces = fc.constantFrom(
      ...[
        '1',
        '9',
        '1e5000',
        '.5',
        '+',
        '-',
        '*',
        '/',
        '^',
        '!',
        '%',
        '(',
        ')',
        ',',
        ' ',
        'mod',
        'pi',
        'e',
        'i',
      ],
      ...['sqrt(', 'factorial(', 'sin(', 'log(', '=', ':', '[', ']', '{', '"', "'", '.', ';', '\n', '?', 'x'],
    );
    const expressions = fc.array(pieces, { maxLength: 25 }).map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(expressions, async (expression) => {
        const outcome = await calculated(expression).catch((error: unknown) => error);
        if (typeof outcome === 'string') expect(outcome).toMatch(/^-?\d+(\.\d+)?(e[+-]\d+)?$/);
        else expect(outcome).toBeInstanceOf(Error);
        expect(String(outcome)).not.toMatch(/undefined|TypeError|too long to calculate/);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a hostile expression', () => {
  it('pays for the divisions of gcd and lcm by the digits of their numbers', async () => {
    // Neighbors in Fibonacci's sequence take Euclid's algorithm the most divisions.
    const [small, large] = [fibonacci(280), fibonacci(281)];
    expect(await outcomeOf(`gcd(${small}, ${large})`)).toBe('1');
    const chain = `gcd(${Array.from({ length: 60 }, () => '99999').join(', ')})`;
    expect(await outcomeOf(chain)).toBe('99999');
    const many = Array.from({ length: 35 }, (_, n) => `lcm(${'7'.repeat(4)}, 1e58 + ${String(n)})`).join('+');
    expect(await outcomeOf(many.slice(0, many.lastIndexOf('+', 500)))).toMatch(/too many functions/);
  });

  function fibonacci(n: number): string {
    let [a, b] = [0n, 1n];
    for (let step = 0; step < n; step++) [a, b] = [b, a + b];
    return String(a);
  }

  const labelled = (...expressions: string[]): [string, string][] =>
    expressions.map((expression) => [expression.slice(0, 40), expression]);
  const repeated = (times: number, text: string, between = '+'): string =>
    Array(times).fill(text).join(between);

  it.each(
    labelled(
      '9^9^9^9',
      '9^9^9',
      `${'2^'.repeat(240)}2`,
      '170!!!',
      '1000!!',
      'factorial(1e9)',
      'ones(1e9)',
      'zeros(1e9)',
      'range(1, 1e9)',
      '1:1e9',
      '[1, 2; 3, 4]',
      'a = 1',
      'f(x) = f(x)',
      '1; 2',
      'a.b',
      '"".constructor',
      'constructor',
      '__proto__',
      'hasOwnProperty(1)',
      'toString()',
      'import("fs")',
      'import({pi: 3}, {override: true})',
      'config({})',
      'evaluate("1")',
      'parse("1")',
      'simplify("x")',
      'createUnit("a")',
      '5 cm to m',
      'random()',
      'true ? 1 : 2',
      '"text"',
      'map([1], f(x) = x)',
      '1 << 999999999',
      'combinations(1e6, 5e5)',
      '1e999999999999',
      '1e5000 * 10',
      '1e-5000 / 10',
      'exp(1e6)',
      'sin(1e16)',
      'gcd(1e5000, 7)',
      `${'('.repeat(240)}1${')'.repeat(240)}`,
      repeated(100, 'e^.1'),
      '1'.repeat(100_000),
      '1+'.repeat(50_000),
    ),
  )('is refused in words, before it is calculated: %s', async (_, expression) => {
    await calculated('1'); // the library is there
    const words = await outcomeOf(expression);
    expect(words).toMatch(/^refused: Error: [A-Z]/);
    expect(words).not.toContain('too long to calculate');
  });

  it.each(
    labelled(
      `${'('.repeat(49)}1${'+1%)'.repeat(49)}`, // a tree that shares its nodes: 2^49 steps for a walk without memory
      `${'-'.repeat(499)}1`,
      repeated(80, '1000!'),
      repeated(80, '7^999'),
      repeated(16, 'e^.1'),
      repeated(16, '2^.5', '*'),
      repeated(16, 'sin(2)', '*'),
      repeated(16, 'asin(.9)', '*'),
      repeated(16, 'tan(9e14)', '*'),
      repeated(16, 'exp(9999)', '-'),
      repeated(20, '1e4999 mod 1e-4999'),
      '1.0000000001^1e13',
      'gcd(1e60, 123456789012345678901234567)',
      `${'sqrt('.repeat(49)}2${')'.repeat(49)}`,
    ),
  )('is calculated before the watchdog stops it: %s', async (_, expression) => {
    await calculated('1');
    const words = await outcomeOf(expression);
    expect(words).toMatch(/^-?\d/);
  });
});
