import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import ReactMarkdown from 'react-markdown';
import { PLUGINS } from '../../src/web/chat/thread/text/plugins.js';
import { sectionsOf } from '../../src/web/chat/thread/text/sections.js';

function rendered(children: string): string {
  return renderToStaticMarkup(
    createElement(ReactMarkdown, { remarkPlugins: PLUGINS, disallowedElements: ['img'], children }),
  );
}

/** The blocks of sections are siblings, with or without the line break that the library writes between blocks. */
function renderedInSections(text: string): string {
  return sectionsOf(text)
    .map(rendered)
    .filter((html) => html !== '')
    .join('\n');
}

const LINES = [
  ...[
    '',
    '',
    '',
    'a',
    'b *c*',
    '# d',
    '---',
    '===',
    '- e',
    '  - f',
    '  g',
    '    h',
    '1. i',
    '2. j',
    '> k',
    '>',
    '> - l',
  ],
  ...[
    '```',
    '```ts',
    '   ```',
    '  ```',
    '- ```',
    '> ```',
    '~~~',
    '````',
    '| m | n |',
    '|---|---|',
    '* * *',
    '<div>',
    '\tn',
    ' o',
  ],
];

/** After indented code, the parser takes an item that cannot interrupt a paragraph for text. CommonMark does not. */
const TEXT_AFTER_CODE = /^(?:\t| {4}).*\n\s*\n(?:[02-9]|\d{2,})[.)] /m;

describe('sectionsOf', () => {
  it.each([
    ['paragraphs', 'a\n\nb\n\n\nc\n', ['a\n', 'b\n\n', 'c\n']],
    ['code with blank lines', '```\na\n\nb\n```\n\nc', ['```\na\n\nb\n```\n', 'c']],
    ['a list with blank lines', '1. a\n\n   b\n\n2. c\n\nd', ['1. a\n\n   b\n\n2. c\n', 'd']],
    [
      'code in a list',
      '- a\n\n  ```\n  b\n\n  c\n  ```\n\n- d\n\ne',
      ['- a\n\n  ```\n  b\n\n  c\n  ```\n\n- d\n', 'e'],
    ],
    ['a list after code that looks like one', '```\n- a\n```\n\n- b', ['```\n- a\n```\n', '- b']],
    [
      'quotes, and code after them',
      '> a\n\n> b\n\n  ```py\n  c\n\nd\n  ```\n\ne',
      ['> a\n', '> b\n\n  ```py\n  c\n\nd\n  ```\n', 'e'],
    ],
    [
      'code of a list with lines in the first column',
      'a\n\n- b\n\n  ```\nc\n\nd\n\n  ```\n\ne',
      ['a\n', '- b\n\n  ```\nc\n\nd\n\n  ```\n\ne'],
    ],
    [
      'code that looks like definitions',
      '```ts\n[a: string]: b\n```\n\n[c]: d e\n\nf',
      ['```ts\n[a: string]: b\n```\n', '[c]: d e\n', 'f'],
    ],
    ['definitions in a list', '[1]\n\n* [1]: https://example.com', ['[1]\n\n* [1]: https://example.com']],
    ['footnotes', 'a[^1]\n\n[^1]: b c', ['a[^1]\n\n[^1]: b c']],
    ['another line break', 'a\r\n\r\nb', ['a\n', 'b']],
    ['definitions', '[a]\n\n[a]: b\n\nc', ['[a]\n\n[a]: b\n\nc']],
    ['no text', '', ['']],
  ])('divides %s', (_, text, expected) => {
    expect(sectionsOf(text)).toEqual(expected);
  });

  it('renders as the whole text', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...LINES), { maxLength: 14 }), (lines) => {
        const text = lines.join('\n');
        fc.pre(!TEXT_AFTER_CODE.test(text));
        expect(renderedInSections(text)).toBe(rendered(text));
      }),
      { numRuns: 1_000 },
    );
  });

  it.each(readdirSync('docs').filter((name) => name.endsWith('.md')))(
    'renders docs/%s as the whole',
    (name) => {
      const text = readFileSync(`docs/${name}`, 'utf8');
      expect(renderedInSections(text)).toBe(rendered(text));
    },
  );

  it('keeps all but the last two sections of a text that grows', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...LINES), { maxLength: 14 }), fc.nat(), (lines, at) => {
        const text = lines.join('\n');
        const before = sectionsOf(text.slice(0, at % (text.length + 1)));
        const kept = Math.max(0, before.length - 2);
        expect(sectionsOf(text).slice(0, kept)).toEqual(before.slice(0, kept));
      }),
      { numRuns: 1_000 },
    );
  });
});
