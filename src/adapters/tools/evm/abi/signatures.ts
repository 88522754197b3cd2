import type { AbiFunction, AbiParameter } from 'viem';
import type { JsonValue } from '../../../../core/model/json.js';
import { ChainError } from '../chain-error.js';
import { shown } from '../words.js';

/** Maximum length of a signature, in characters. */
const MAX_SIGNATURE = 1_000;
/** Maximum number of parameters of a signature: inputs, outputs and tuple components together. */
const MAX_PARAMETERS = 128;
/** Maximum nesting depth of tuples. */
const MAX_DEPTH = 8;
/** Maximum number of dimensions of an array type. */
const MAX_DIMENSIONS = 4;
/** Maximum number of values in the fixed-size arrays of one parameter, multiplied by those of the enclosing tuples. */
const MAX_FIXED_VALUES = 4_096;

const TOKEN = /\s*([A-Za-z$_][A-Za-z0-9$_]*|\d+|[()[\],])\s*/y;
const IDENTIFIER = /^[A-Za-z$_]/;
const INTEGER = /^u?int(\d*)$/;
const BYTES = /^bytes(\d*)$/;
const LOCATIONS: ReadonlySet<string> = new Set(['calldata', 'memory', 'storage']);
const VISIBILITIES: ReadonlySet<string> = new Set(['external', 'public']);
const MUTABILITIES = ['pure', 'view', 'payable', 'nonpayable'] as const;

/**
 * Parses a signature such as `function balanceOf(address) view returns (uint256)`; the word `function` is optional.
 * Bounds: at most 128 parameters, tuples nested at most 8 levels deep, arrays of at most 4 dimensions, and at most
 * 4,096 values in the fixed-size arrays of a parameter.
 * @throws ChainError when the text is not a signature or exceeds a bound
 */
export function parseFunction(signature: JsonValue | undefined): AbiFunction {
  const text = typeof signature === 'string' ? signature.trim().replace(/;$/, '') : '';
  try {
    if (text.length > MAX_SIGNATURE) throw tooLarge(`is longer than ${String(MAX_SIGNATURE)} characters`);
    return new SignatureParser(tokensOf(text)).function();
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
    const problem = error instanceof RangeError ? error.message : 'cannot be read';
    throw new ChainError(
      `The function ${shown(signature)} ${problem}. Write it like "function balanceOf(address owner) view returns (uint256)".`,
      { cause: error },
    );
  }
}

/** A recursive descent parser. Each level of recursion is one tuple. */
class SignatureParser {
  #next = 0;
  #parameters = 0;

  constructor(private readonly tokens: readonly string[]) {}

  function(): AbiFunction {
    if (this.tokens[1] !== '(') this.#take('function');
    const name = this.#identifier();
    const inputs = this.#list(0, 1);
    let stateMutability: AbiFunction['stateMutability'] = 'nonpayable';
    for (let word = this.#peek(); word !== undefined && word !== 'returns'; word = this.#peek()) {
      const mutability = MUTABILITIES.find((known) => known === word);
      if (mutability === undefined && !VISIBILITIES.has(word)) throw unexpected(word);
      stateMutability = mutability ?? stateMutability;
      this.#next++;
    }
    const outputs = this.#skip('returns') ? this.#list(0, 1) : [];
    const rest = this.#peek();
    if (rest !== undefined) throw unexpected(rest);
    return { type: 'function', name, inputs, outputs, stateMutability };
  }

  /** Parses parameters in parentheses. @param repeats the number of values in the enclosing fixed-size arrays */
  #list(depth: number, repeats: number): AbiParameter[] {
    if (depth > MAX_DEPTH) throw tooLarge(`has tuples nested deeper than ${String(MAX_DEPTH)} levels`);
    this.#take('(');
    const parameters: AbiParameter[] = [];
    if (this.#skip(')')) return parameters;
    do parameters.push(this.#parameter(depth, repeats));
    while (this.#skip(','));
    this.#take(')');
    return parameters;
  }

  #parameter(depth: number, repeats: number): AbiParameter {
    if (++this.#parameters > MAX_PARAMETERS)
      throw tooLarge(`has more than ${String(MAX_PARAMETERS)} parameters`);
    if (this.#peek() !== '(') {
      const type = elementary(this.#identifier());
      if (type === 'address') this.#skip('payable');
      const { suffix } = this.#dimensions(repeats);
      return { type: type + suffix, ...this.#name() };
    }
    // Read the array suffix that follows the tuple first, because it counts toward the bounds of the components.
    const begin = this.#next;
    this.#next = this.#endOfTuple();
    const { suffix, repeats: inner } = this.#dimensions(repeats);
    const end = this.#next;
    this.#next = begin;
    const components = this.#list(depth + 1, inner);
    this.#next = end;
    return { type: `tuple${suffix}`, ...this.#name(), components };
  }

  /** The position after the parenthesis that closes the one at the current position. */
  #endOfTuple(): number {
    let open = 0;
    for (let at = this.#next; at < this.tokens.length; at++) {
      if (this.tokens[at] === '(') open++;
      else if (this.tokens[at] === ')' && --open === 0) return at + 1;
    }
    throw new SyntaxError('a parenthesis is not closed');
  }

  #dimensions(outer: number): { readonly suffix: string; readonly repeats: number } {
    let [suffix, repeats, count] = ['', outer, 0];
    while (this.#skip('[')) {
      if (++count > MAX_DIMENSIONS)
        throw tooLarge(`has an array of more than ${String(MAX_DIMENSIONS)} dimensions`);
      const length = this.#peek() === ']' ? '' : this.#length();
      this.#take(']');
      suffix += `[${length}]`;
      repeats *= length === '' ? 1 : Math.max(1, Number(length));
      if (repeats > MAX_FIXED_VALUES)
        throw tooLarge(`has fixed-size arrays of more than ${String(MAX_FIXED_VALUES)} values`);
    }
    return { suffix, repeats };
  }

  #length(): string {
    const token = this.#peek();
    if (token === undefined || !/^\d/.test(token)) throw unexpected(token);
    this.#next++;
    return token.replace(/^0+(?=\d)/, '');
  }

  #name(): { readonly name?: string } {
    if (LOCATIONS.has(this.#peek() ?? '')) this.#next++;
    const token = this.#peek();
    if (token === undefined || !IDENTIFIER.test(token)) return {};
    this.#next++;
    return { name: token };
  }

  #identifier(): string {
    const token = this.#peek();
    if (token === undefined || !IDENTIFIER.test(token)) throw unexpected(token);
    this.#next++;
    return token;
  }

  #take(token: string): void {
    if (!this.#skip(token)) throw unexpected(this.#peek());
  }

  #skip(token: string): boolean {
    const isNext = this.#peek() === token;
    if (isNext) this.#next++;
    return isNext;
  }

  #peek(): string | undefined {
    return this.tokens[this.#next];
  }
}

function tokensOf(text: string): readonly string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const token = TOKEN.exec(text)?.[1];
    if (token === undefined) throw new SyntaxError('invalid character');
    tokens.push(token);
  }
  return tokens;
}

/** The canonical name of an elementary type: `uint` becomes `uint256`. @throws SyntaxError for an unknown type */
function elementary(type: string): string {
  if (type === 'address' || type === 'bool' || type === 'string' || type === 'bytes') return type;
  const bits = INTEGER.exec(type)?.[1];
  if (bits === '') return `${type}256`;
  if (bits !== undefined && isSize(bits, 256) && Number(bits) % 8 === 0) return type;
  const bytes = BYTES.exec(type)?.[1];
  if (bytes !== undefined && isSize(bytes, 32)) return type;
  throw unexpected(type);
}

function isSize(digits: string, most: number): boolean {
  return /^[1-9]\d{0,2}$/.test(digits) && Number(digits) <= most;
}

function tooLarge(problem: string): RangeError {
  return new RangeError(problem);
}

function unexpected(token: string | undefined): SyntaxError {
  return new SyntaxError(`unexpected ${token ?? 'end'}`);
}
