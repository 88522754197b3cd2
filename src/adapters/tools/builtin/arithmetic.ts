import type { BigNumber, MathJsInstance, MathNode } from 'mathjs';
import { MAX_EXPONENT, numberFunctions } from './functions.js';

const MAX_LENGTH = 500;
const MAX_BRACKETS = 50;
/** Significant digits of a result. The digits beyond them, up to `DIGITS`, absorb rounding errors. */
const SHOWN_DIGITS = 32;
/** Working precision in digits: enough for 256-bit integers, which are shown in full. */
export const DIGITS = 80;
/** Budget of one expression, in the unit of `NumberFunction.cost`. */
const MAX_COST = 16;

/**
 * Evaluates an expression.
 * @throws Error with a message for the user when the expression cannot be parsed, is not arithmetic, or exceeds a bound
 */
export type Arithmetic = (expression: string) => string;

/**
 * Evaluates with mathjs's parser and decimals, but without its evaluator. This evaluator accepts only numbers,
 * parentheses, and the constants, operators and functions of its tables. Assignments, function definitions, ranges,
 * matrices, units, property access and `import` are therefore impossible.
 */
export function createArithmetic(math: MathJsInstance): Arithmetic {
  const number = (value: number | string): BigNumber => math.bignumber(value);
  const functions = numberFunctions(number);
  const minusOne = number(-1);
  const constants = new Map<string, BigNumber>([
    ['pi', minusOne.acos()],
    ['π', minusOne.acos()],
    ['tau', minusOne.acos().times(2)],
    ['e', number(1).exp()],
  ]);

  return (expression) => {
    const tree = parse(math, expression);
    // mathjs parses `a + b%` as `a + a * b%` with one shared node for `a`. Memoization keeps a chain of them linear.
    const values = new Map<MathNode, BigNumber>();
    let spent = 0;
    return shown(valueOf(tree));

    function valueOf(node: MathNode): BigNumber {
      const known = values.get(node);
      if (known !== undefined) return known;
      const value = checked(compute(node));
      values.set(node, value);
      return value;
    }

    function compute(node: MathNode): BigNumber {
      if (math.isParenthesisNode(node)) return valueOf(node.content);
      if (math.isConstantNode(node)) return constant(node.value);
      if (math.isSymbolNode(node)) return named(node.name);
      if (math.isOperatorNode(node)) return call(node.fn, node.args, `operator ${node.op}`);
      if (math.isFunctionNode(node) && math.isSymbolNode(node.fn)) {
        return call(node.fn.name, node.args, `function ${node.fn.name}`);
      }
      throw new Error('Only arithmetic is allowed: numbers, operators, parentheses and functions.');
    }

    function constant(value: unknown): BigNumber {
      if (math.isBigNumber(value)) return value;
      if (typeof value === 'number') return number(value);
      throw new Error('Only numbers can be calculated with.');
    }

    function named(name: string): BigNumber {
      const value = constants.get(name);
      if (value === undefined) throw new Error(`The name "${name}" is unknown.`);
      return value;
    }

    function call(name: string, args: readonly MathNode[], label: string): BigNumber {
      const found = functions.get(name);
      if (found === undefined) throw new Error(`There is no ${label}.`);
      if (args.length < found.least || args.length > found.most) {
        throw new Error(`${name} does not take ${args.length.toString()} arguments.`);
      }
      const given = args.map(valueOf);
      spent += found.cost(given);
      if (spent > MAX_COST) throw new Error('The expression has too many functions and fractional powers.');
      return found.of(given);
    }
  };
}

function parse(math: MathJsInstance, expression: string): MathNode {
  const text = expression
    .replace(/[×·]/g, '*')
    .replace(/÷/g, '/')
    .replace(/[−–]/g, '-')
    .replaceAll('**', '^')
    .trim();
  if (text === '') throw new Error('The expression is empty.');
  if (text.length > MAX_LENGTH)
    throw new Error(`The expression is longer than ${MAX_LENGTH.toString()} characters.`);
  if (/%\s*[-+]/.test(text)) {
    throw new Error('Percent or remainder? Before + or -, write (5%) in brackets, or mod for a remainder.');
  }
  if (bracketDepth(text) > MAX_BRACKETS) throw new Error('The expression has too many nested brackets.');
  try {
    return math.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`The expression cannot be read: ${why}`, { cause: error });
  }
}

function bracketDepth(text: string): number {
  let [depth, deepest] = [0, 0];
  for (const character of text) {
    if ('([{'.includes(character)) deepest = Math.max(deepest, ++depth);
    else if (')]}'.includes(character)) depth--;
  }
  return deepest;
}

function checked(value: BigNumber): BigNumber {
  if (value.isNaN()) throw new Error('The result is not a real number.');
  if (!value.isFinite() || (!value.isZero() && Math.abs(value.e) > MAX_EXPONENT)) {
    throw new Error(
      `The numbers get too large or too small: from 1e-${MAX_EXPONENT.toString()} to 1e${MAX_EXPONENT.toString()}.`,
    );
  }
  return value;
}

function shown(value: BigNumber): string {
  if (value.isZero()) return '0';
  if (value.isInteger() && value.e < DIGITS) return value.toFixed();
  const rounded = value.toSignificantDigits(SHOWN_DIGITS);
  return rounded.e >= -20 && rounded.e < SHOWN_DIGITS ? rounded.toFixed() : rounded.toString();
}
