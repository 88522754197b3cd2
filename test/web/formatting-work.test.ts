import { readFileSync, readdirSync } from 'node:fs';
import { Session, type Profiler } from 'node:inspector';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Options } from 'react-markdown';
import { limited } from '../../src/web/chat/thread/text/format-limit.js';
import { formattingWork } from '../../src/web/chat/thread/text/formatting-work.js';
import { markMath } from '../../src/web/chat/thread/text/math-marks.js';

/** How many blocks of the parser's code run for a unit of estimated work, at most. */
const STEPS_PER_UNIT = 400;
/** The length of a shape for which the parser's steps are counted, in characters. */
const COUNTED = 1_000;

/** Repeated to any length, these are each construct of Markdown, and what looks like one. */
const REPEATED = [
  ...[
    '*a',
    'a*',
    '*a ',
    'a* ',
    '_a ',
    ' _a',
    'a_',
    '*a*',
    '**a** ',
    '***a',
    '**a*',
    '~a',
    '~~a ',
    'a~~ ',
    '*_',
    '*_~',
  ],
  ...[
    '*a_b',
    'a_b*',
    '*[',
    '*](',
    '*',
    '_',
    '~',
    '[',
    ']',
    '[]',
    '![',
    '[a](b)',
    '[a](',
    '](',
    '](b (',
    '](b "',
    '](<',
  ],
  ...[
    '[a]',
    '[a][',
    '[*a',
    '[x](y) *a',
    '![a](b)',
    '[^a]',
    '[^a]: ',
    '[^a]: b\n',
    '[a]: b\n',
    '[a]: b (\n',
    '[a]: b "\n',
  ],
  ...[
    '`',
    '`a``',
    '`a` ',
    '\\``a',
    '`[',
    '```\n',
    '```a\n',
    '~~~\n',
    '- ```\n',
    '> ```\n',
    '    a\n',
    '\t',
    ' ',
    '\n',
  ],
  ...[
    '<',
    '<a:',
    '<a@',
    '<a>',
    '<!--',
    '<![CDATA[',
    '<?',
    '&',
    '&amp;',
    '\\',
    '\\*',
    '\u0000',
    '😀',
    'a',
    'a ',
    '!',
    ':',
  ],
  ...[
    'www.',
    'www.a_',
    'www.a_ ',
    'http://',
    'http://a ',
    'http://a_',
    'https://a.b/c ',
    'a@',
    'a@b.c ',
    '-a',
    '+',
    '.',
  ],
  ...[
    'a\n',
    'a\n=\n',
    'a\n-\n',
    'a\n-\n\n',
    '===\n',
    '---\n',
    '***\n',
    'a  \n',
    'a\\\n',
    '#',
    '# ',
    '#\n',
    '# a\n',
  ],
  ...[
    '- a\n',
    '- a\n\n',
    '-\n',
    '- \n',
    '- a\n  b\n',
    '- a\n\n  b\n',
    '1. a\n',
    '1. a\n\n',
    '* - + a\n',
    '- [ ] a\n',
  ],
  ...[
    '> a\n',
    '> a\n\n',
    '>\n',
    '> - a\n',
    '> - a\n\n',
    '- # a\n',
    '- a\n  -\n',
    '- a\n\n  a\n  =\n\n',
    '2. * =',
  ],
  ...[
    '|',
    '|a\n',
    '|-',
    '| a |\n',
    '| a | b |\n',
    '- | a |\n  | - |\n',
    '$',
    '$a',
    '$a$ ',
    '\\(',
    '\\(a\\) ',
    '"',
    "('",
  ],
];

/** Opened and closed equally often, these are nested. */
const NESTED = [
  ...[
    ['*', '*'],
    ['_', '_'],
    ['*_', '_*'],
    ['**a ', ' b**'],
    ['*a ', ' b*'],
    ['~~a ', ' b~~'],
    ['[', ']'],
    ['![', ']'],
  ],
  ...[
    ['![', '](a)'],
    ['[', '](a)'],
    ['[', '][a]'],
    ['[a](', ')'],
    ['(', ')'],
    ['<', '>'],
    ['$', '$'],
    ['{', '}'],
  ],
] as const;

type Shape = readonly [name: string, ofLength: (length: number) => string];

/** The beginning of a text, and what is repeated after it. */
const CONTINUED = [
  ...[
    ['|a|b|\n|-|-|\n', '|a|*b*|\n'],
    ['a|b\n-|-\n', 'a|*b*\n'],
    ['> a\n| a |\n|-|-|\n', '| *a\n'],
    ['- x\n\n  |a|b|\n|-|-|\n', '|*a|b|\n'],
  ],
  ...[
    ['a\n    ```\n', '*a'],
    ['- a\n  ```\n', '*a'],
    ['- a\n  ```\n*a\n', '*a'],
    ['> ```\n', '*a\n'],
    ['```\n', '*a'],
    ['```\n```\n', '*a'],
  ],
  ...[
    ['> a\n', 'a\n'],
    [`${'>'.repeat(90)} a\n`, 'a\n'],
    [`${'- '.repeat(45)}a\n`, 'a\n'],
    [`${'- '.repeat(45)}a\n`, '\n'],
  ],
  ...[
    ['[a]: b\n', '[a] '],
    ['[^a]: b\n\n', '[^a] '],
    ['1. a\n', '1. *a\n'],
    ['a\n', '2. *a\n'],
    ['1. a\n', '2. *a\n'],
    ['a\n', '    - *a\n'],
  ],
] as const;

/** What comes before, within and after these makes the parser look back or ahead from each of the parts. */
const BEFORE = ['[', '![', '[^', 'http://a', 'www.a/'];
const PARTS = [
  ...['h,', 'www ', 'a ', '-,', '\\*h', '![a](b)h '],
  ...['!', ')', ',', '?', ':', "'", '"', '.', '&amp;', '!!!b', '!]'],
  ...['*a* ', '*a*b', '**a** ', '(*"a"*', '`a` ', '[a] ', '[`a`]', '[[a]]', '`]`', '[a <x:]>'],
];
const AFTER = ['', 'a'];

const surrounded: readonly Shape[] = BEFORE.flatMap((before) =>
  PARTS.flatMap((part) =>
    AFTER.map((after): Shape => [
      `${JSON.stringify(part)} between ${JSON.stringify(before)} and ${JSON.stringify(after)}`,
      (length) => before + repeated(part, length) + after,
    ]),
  ),
);

const shapes: readonly Shape[] = [
  ...REPEATED.map((part) => [JSON.stringify(part), (length: number) => repeated(part, length)] as const),
  ...NESTED.map(
    ([open, close]) =>
      [
        `${JSON.stringify(open)} with ${JSON.stringify(close)}`,
        (length: number) => repeated(open, length / 2) + 'x' + repeated(close, length / 2),
      ] as const,
  ),
  ...CONTINUED.map(
    ([first, part]) =>
      [
        `${JSON.stringify(part)} after ${JSON.stringify(first)}`,
        (length: number) => first + repeated(part, length),
      ] as const,
  ),
  ['a table with few cells in its rows', (length) => table(length / 6) + repeated('|\n', length / 3)],
  ['a table with no pipe in its rows', (length) => table(length / 6) + repeated('a\n', length / 3)],
  ['runs of backticks, each longer than the one before', (length) => runs(length).join('a')],
  ['runs of backticks, each shorter than the one before', (length) => runs(length).reverse().join('a')],
  ['items that nest more with each line', (length) => steps(length)],
];

function repeated(part: string, length: number): string {
  return part.repeat(Math.max(1, Math.floor(length / part.length)));
}

function table(columns: number): string {
  return `${'|a'.repeat(columns)}|\n${'|-'.repeat(columns)}|\n`;
}

function runs(length: number): string[] {
  return Array.from({ length: Math.sqrt(2 * length) }, (_, n) => '`'.repeat(n + 1));
}

function steps(length: number): string {
  return Array.from({ length: length / 50 }, (_, n) => `${' '.repeat(2 * (n % 45))}- a\n`).join('');
}

/** Counts the blocks of code in `node_modules` that run, by V8's coverage: the same number in each run. */
class Steps {
  readonly #session = new Session();

  constructor() {
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** Counts the steps since the last call, or the start. */
  count(run: () => unknown): number {
    run();
    let sum = 0;
    this.#session.post('Profiler.takePreciseCoverage', (error, { result }) => {
      if (error !== null) throw error;
      const ranges = result.filter(({ url }) => url.includes('node_modules')).flatMap(rangesOf);
      for (const { count } of ranges) sum += count;
    });
    return sum;
  }

  close(): void {
    this.#session.disconnect();
  }
}

function rangesOf({ functions }: Profiler.ScriptCoverage): readonly Profiler.CoverageRange[] {
  return functions.flatMap(({ ranges }) => ranges);
}

describe('formattingWork', () => {
  let steps: Steps;
  let parse: (markdown: string) => unknown;

  beforeAll(async () => {
    // Before the parser is loaded: code that is compiled already is not counted.
    steps = new Steps();
    const [{ default: render }, { PLUGINS }] = await Promise.all([
      import('react-markdown') as Promise<{ default: (options: Options) => unknown }>,
      import('../../src/web/chat/thread/text/plugins.js'),
    ]);
    parse = (children) => render({ children, remarkPlugins: PLUGINS });
    steps.count(() => parse(''));
  });

  afterAll(() => {
    steps.close();
  });

  function exceeding(all: readonly Shape[], length: number): readonly string[] {
    const found = all.filter(([, shape]) => {
      const markdown = markMath(shape(length));
      const work = formattingWork(markdown);
      return work < 500_000 && steps.count(() => parse(markdown)) > work * STEPS_PER_UNIT;
    });
    return found.map(([name]) => name);
  }

  it('is an upper bound of the steps of the parser', () => {
    expect(exceeding(shapes, COUNTED)).toEqual([]);
    expect(steps.count(() => parse('a '.repeat(COUNTED / 2)))).toBeGreaterThan(COUNTED * 20);
  }, 300_000);

  it.each([COUNTED, 4 * COUNTED])(
    'is an upper bound also after an open bracket or an address, of %s characters',
    (length) => {
      expect(exceeding(surrounded, length)).toEqual([]);
    },
    300_000,
  );

  it('takes a time that grows with the text', () => {
    const before = process.cpuUsage();
    for (const part of ['|', '|-', '[a', '*', '`a', '&', '!', '\\', '[a]: x', '\t'])
      limited(`${repeated(part, 100_000)}a`);
    for (const head of ['[a]:', '- [a]: b', '> [^a'])
      for (const part of [' ', ' \t', 'b']) limited(`${head}${repeated(part, 100_000)}a b`);
    // A search from each character would take far longer for the pipes, or for the blanks, alone.
    expect(process.cpuUsage(before).user).toBeLessThan(9_000_000);
  });
});

describe('the limit of the work', () => {
  it.each([
    ...['*a', 'a*', ']', '[]', '![', '*_', '[a]', '[^a]', '-\n', '> a\n', 'www.a_', '\\``a'].map(
      (part) => [part, repeated(part, 64 * 1_024)] as const,
    ),
    ['nested emphases', repeated('*', 8 * 1_024) + 'a' + repeated('*', 8 * 1_024)],
    ['nested images', repeated('![', 8 * 1_024) + 'a' + repeated('](a)', 8 * 1_024)],
    ['20,000 nested quotes', '>'.repeat(20_000)],
    ['60 nested items', `${'- '.repeat(60)}a`],
    ['a sparse table', table(1_000) + '|\n'.repeat(1_000)],
    ['formulas', '$x$ '.repeat(5_000)],
    ['addresses in an open bracket', '[' + repeated('h,', 64 * 1_024)],
    ['an address before exclamation marks', `http://a${'!'.repeat(20_000)}a`],
    ['pairs', repeated('*a* ', 64 * 1_024)],
  ])('leaves %s as it is', (_, text) => {
    expect(limited(text)).toMatchObject({ sections: [], rest: text });
  });

  it('estimates a section once, also the one that exceeds it', () => {
    const { estimates } = limited(`a\n\n${'*a'.repeat(20_000)}\n\nb`);
    const again = limited(`a\n\n${'*a'.repeat(20_000)}\n\nb c`, estimates).estimates;
    expect(again).toHaveLength(2);
    for (const [index, section] of again.entries()) expect(section).toBe(estimates[index]);
  });

  it('renders what comes before', () => {
    const { sections, rest } = limited(`# a\n\nb\n\n${'*a'.repeat(20_000)}\n\nc`);
    expect(sections.map(({ text }) => text)).toEqual(['# a\n', 'b\n']);
    expect(rest).toBe(`${'*a'.repeat(20_000)}\n\nc`);
  });

  it.each<[string, string, number, string?, string?]>([
    [
      'prose',
      `It has *words*, and a [link](https://example.com/). ${'They go on, with "quotes" (of course); as they do. '.repeat(9)}\n\n`,
      256,
    ],
    ['a dialogue', '**Alice:** I think that we should go there, he said.\n', 16],
    ['a log', '2026-11-28 09:15:02 [INFO] [web] request *4f2a* took 3 ms (GET /a)\n', 16],
    [
      'a log and code with what looks like definitions',
      '[INFO]: server started\n\n- a\n\n```ts\n[key: string]: Value[];\n```\n\n',
      64,
    ],
    [
      'half-open intervals',
      'Let x be in [0, 1), and not in (1, 2]: as it says, that is so. '.repeat(9) + '\n\n',
      32,
    ],
    ['a list', '- **Name**: a `value`, see [the docs](https://example.com/docs).\n', 40],
    ['numbered steps with code', '1. Run this:\n\n   ```sh\n   a=$(b | c) && d "$a[1]"\n   ```\n\n', 15],
    ['code', '  const a = b[c] * d_e(`f`, g ?? [...h], **i); // j\n', 120, '```ts\n', '```\n'],
    [
      'a table',
      `| 0x${'ab'.repeat(20)} | **1 234.56** | [a](https://example.com/a) | \`b\` |\n`,
      80,
      '| a | b | c | d |\n|---|---|---|---|\n',
    ],
    ['mathematics', 'Let $x_1^2 + y_n = \\frac{a}{b}$ be so:\n\n$$\\sum_{i=1}^n x_i$$\n\n', 20],
  ])('renders %s', (_, part, kilobytes, before = '', after = '') => {
    const text = before + repeated(part, kilobytes * 1_024) + after;
    expect(limited(text).rest).toBe('');
  });

  it('renders the documents of this repository', () => {
    const plain = documents().filter((name) => limited(readFileSync(name, 'utf8')).rest !== '');
    expect(plain).toEqual([]);
  });
});

function documents(): readonly string[] {
  const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`);
  return ['README.md', 'CHANGELOG.md', ...pages.filter((name) => name.endsWith('.md'))];
}
