import { fenceAfter, linesOf, marksOf, MAX_INDENT, type Fence } from './lines.js';
import { DISPLAY_MATH, INLINE_MATH } from './math-marks.js';

/** How far into a line marks of quotes and list items may reach, in columns. Bounds the depth of nested blocks. */
const MAX_COLUMN = 100;

/** The work of each section and line beside that of its characters. */
const PER_SECTION = 64;
const PER_LINE = 8;
/** The work of a formula, and of each of its characters. */
const PER_FORMULA = 100;
const PER_FORMULA_CHARACTER = 8;
/** The work of highlighting a character of code. */
const PER_CODE_CHARACTER = 2;
/** A table has a cell for each column in every row, also where the text has none. */
const PER_CELL = 4;

/**
 * What makes the parser read a paragraph again, from its beginning or to its end: marks that may end an emphasis, a link
 * or an image, fences that nothing closes, and addresses. An underscore within a word and what follows a space end none.
 */
const REREADS = /(?<=\S)(?:[*~]|_(?<![a-z\d]_(?=[a-z\d])))|\]|!\[|\\`|`{3,}|www\.|:\/\//gi;

/**
 * Pairs of marks that begin and end on a line: the parser finds the first one right before the second. What is between
 * them is estimated as other text. A mark after a space cannot end an emphasis. A label may hold others, and code.
 */
const LABEL = /\[((?:[^\][`\\<\n]|`[^\][`\n]+`|\\[^\][`\n]){1,200})\]/g;
const PAIRS = [
  /(?<!\S)\*(?!\s)([^*\n]{1,200})(?<!\s)\*(?!\*)/g,
  /(?<!\S)\*\*(?!\s)([^*\n]{1,200})(?<!\s)\*\*(?!\*)/g,
  /(?<!`)`([^`\n]{1,200})`(?!`)/g,
  LABEL,
  LABEL,
];

/** Marks that may follow an address without being of it: the parser looks for their end from each. */
const PUNCTUATION = /(?:[!"'()*,.:;?_~]|&\w*;){16,}/g;

/** What may begin an address, and the long ones: an address of electronic mail is sought from each dot and dash. */
const WORD = /[-.+\w]+/g;
const LONG_WORD = /[-.+\w]{64,}/g;

/** A line that makes the paragraph above it a heading. */
const UNDERLINE = /^[ \t>]*(?:=+|-+)[ \t]*$/;

/** A line that ends a paragraph, also within quotes. */
const BLANK = /^(?: {0,3}>)*[ \t]*$/;

/** The characters of the second row of a table. */
const DELIMITERS = /^(?=[^|]*\|)[|:\- \t>]*$/;

/** The indentation and the text of a line that begins no other block than a table. */
const ROW = /^( {0,3})((?:[|a-z<(]|\[(?!\^)|`(?!`)|\*\*?[a-z]).*)$/i;

/** An item of a numbered list. */
const NUMBERED = /^ {0,3}\d{1,9}[.)][ \t]+\S/;

const FORMULA = new RegExp(`[${INLINE_MATH}${DISPLAY_MATH}][^\`]*`, 'g');

/**
 * Estimates the work of rendering a section of Markdown from above, in units of one character of plain prose. The work
 * of the parser grows with the square of a paragraph, of the lines of a list, and of the cells of a table.
 */
export function formattingWork(section: string): number {
  const lines = linesOf(section);
  const paragraphs = new Paragraphs();
  let fence: Fence | undefined;
  let marks = 0;
  let depth = 0;
  let underlines = 0;
  let code = 0;
  for (const line of lines) {
    // Within quotes and lists, code is estimated as text: whether a fence is one depends on what it is in.
    if (marks === 0 && fence !== undefined) {
      fence = fenceAfter(line, fence, MAX_INDENT);
      code += line.length;
      continue;
    }
    const { count, end } = marksOf(line);
    if (end > MAX_COLUMN) return Infinity;
    marks += count;
    depth = Math.max(depth, end);
    if (UNDERLINE.test(line)) underlines++;
    fence = fenceAfter(line, undefined, MAX_INDENT);
    paragraphs.read(line, marks > 0);
  }
  if (marks > 0 && /`{3}|~{3}/.test(section)) code += section.length;
  const blocks = lines.length + marks;
  const structure = ((marks > 0 ? blocks : underlines) * blocks) / 32 + (lines.length * depth) / 2;
  const single = PER_SECTION + section.length + lines.length * PER_LINE + code * PER_CODE_CHARACTER;
  return single + structure + paragraphs.end() + workOfFormulas(section);
}

function workOfFormulas(section: string): number {
  let work = 0;
  for (const [formula] of section.matchAll(FORMULA))
    work += PER_FORMULA + formula.length * PER_FORMULA_CHARACTER;
  return work;
}

/** Divides lines into texts, and sums up the work of each beside reading its characters once. */
class Paragraphs {
  #work = 0;
  #lines: string[] = [];
  #table: Row | undefined;
  /** At least the number of columns of the table that may be open. */
  #columns = 0;

  /** @param isInList true if a quote, a list or a footnote may be open */
  read(line: string, isInList: boolean): void {
    const isEnd = BLANK.test(line);
    if (isEnd) this.#columns = 0;
    else if (DELIMITERS.test(line)) this.#columns = Math.max(this.#columns, line.split('|').length);
    this.#work += this.#columns * PER_CELL;
    const row = rowOf(line);
    if (row !== undefined && row.indent === this.#table?.indent) {
      for (const cell of row.cells) this.#work += workOfText(cell);
      return;
    }
    this.#table = undefined;
    // What follows a quote or an item may belong to its paragraph, and is no table then.
    const mayBeHead = this.#lines.length === 1 || !isInList;
    const head = mayBeHead && DELIMITERS.test(line) ? rowOf(this.#lines.at(-1) ?? '') : undefined;
    if (head !== undefined && isDelimiterOf(line, head)) {
      this.#table = head;
    } else {
      if (isEnd || beginsText(line, this.#lines[0])) this.end();
      if (!isEnd) this.#lines.push(line);
    }
  }

  /** Ends the current text. @returns the work of all texts */
  end(): number {
    this.#work += workOfText(this.#lines.join('\n'));
    this.#lines = [];
    return this.#work;
  }
}

interface Row {
  readonly indent: string;
  readonly cells: readonly string[];
}

/** Reads a line as a row of a table. Undefined: it may begin another block, such as a list. */
function rowOf(line: string): Row | undefined {
  const [, indent, text] = ROW.exec(line.trimEnd()) ?? [];
  if (indent === undefined || text === undefined) return undefined;
  return { indent, cells: text.replace(/^\|/, '').match(/(?:\\.?|[^|\\])+|(?<=\|)(?=\|)/g) ?? [] };
}

/** True for the second row of a table, which has dashes for each cell of the first one. */
function isDelimiterOf(line: string, { indent, cells }: Row): boolean {
  if (!line.startsWith(indent) || !/^(?:[|:]|--)/.test(line.slice(indent.length))) return false;
  const dashes = line.trim().replace(/^\|/, '').replace(/\|$/, '').split('|');
  return (
    cells.length > 1 && dashes.length === cells.length && dashes.every((cell) => /^ *:?-+:? *$/.test(cell))
  );
}

/** True if a line cannot continue the text whose first line is given. */
function beginsText(line: string, first = ''): boolean {
  if (/^ {0,3}(?:[-+*][ \t]+\S|1[.)][ \t]+\S|#{1,6}[ \t])/.test(line)) return true;
  // Only a list that is open may continue with another number.
  return NUMBERED.test(line) && NUMBERED.test(first);
}

function workOfText(text: string): number {
  let pairs = 0;
  let rest = text;
  for (const pair of PAIRS) {
    rest = rest.replace(pair, (_, content: string) => {
      pairs++;
      return content;
    });
  }
  const rereads = text.length * (countOf(rest, REREADS) / 8 + pairs / 128);
  return rereads + workInBracket(rest) + workOfRuns(text);
}

/** After a bracket that nothing closes, the parser goes back to it from each word, which might begin an address. */
function workInBracket(text: string): number {
  const start = text.indexOf('[');
  if (start === -1) return 0;
  return ((text.length - start) * countOf(text.slice(start), WORD)) / 32;
}

function workOfRuns(text: string): number {
  let work = 0;
  for (const [word] of text.matchAll(LONG_WORD)) work += word.length ** 2 / 64;
  for (const [run] of text.matchAll(PUNCTUATION)) work += run.length ** 2 / 8;
  return work;
}

function countOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
