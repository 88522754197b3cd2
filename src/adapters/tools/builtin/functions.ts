import type { BigNumber } from 'mathjs';

/** Magnitudes must lie between 1e-5000 and 1e5000, so that no single step takes long. */
export const MAX_EXPONENT = 5_000;
const MAX_ANGLE = 1e15;
const MAX_FACTORIAL = 1_000;
const MAX_EXACT_INTEGER = '1e60';
const MAX_DIGITS = 60;
const CHEAP_EXPONENT = 1_000;
/** A smaller trigonometric value of an angle above 1 is a rounding error of zero, because pi has finite precision. */
const LEAST_SINE = '1e-60';

/** A function or an operator on decimals. */
export interface NumberFunction {
  readonly least: number;
  readonly most: number;
  /** The share of an expression's budget that a call uses, in units of at most one millisecond; 0: negligible. */
  cost(args: readonly BigNumber[]): number;
  /** @throws Error with a message for the user when the arguments are out of range */
  of(args: readonly BigNumber[]): BigNumber;
}

/** Builds the table of all functions and operators that an expression may use. */
export function numberFunctions(
  number: (value: number | string) => BigNumber,
): ReadonlyMap<string, NumberFunction> {
  const one = number(1);

  const unary = (of: (x: BigNumber) => BigNumber): NumberFunction => ({
    least: 1,
    most: 1,
    cost: () => 0,
    of: ([x = one]) => of(x),
  });
  const binary = (of: (x: BigNumber, y: BigNumber) => BigNumber): NumberFunction => ({
    least: 2,
    most: 2,
    cost: () => 0,
    of: ([x = one, y = one]) => of(x, y),
  });
  const fold = (of: (x: BigNumber, y: BigNumber) => BigNumber): NumberFunction => ({
    least: 1,
    most: Infinity,
    cost: () => 0,
    of: ([first = one, ...rest]) => rest.reduce(of, first),
  });
  const costly = (found: NumberFunction): NumberFunction => ({ ...found, cost: () => 1 });
  const sum = fold((x, y) => x.plus(y));
  const mean: NumberFunction = { ...sum, of: (args) => sum.of(args).div(args.length) };
  const log: NumberFunction = {
    least: 1,
    most: 2,
    cost: () => 1,
    of: ([x = one, base]) => (base ? x.log(base) : x.ln()),
  };
  const round: NumberFunction = {
    least: 1,
    most: 2,
    cost: () => 0,
    of: ([x = one, places]) => roundTo(x, places ?? number(0)),
  };

  const angle = (x: BigNumber): BigNumber => {
    if (x.abs().gt(MAX_ANGLE)) throw new Error(`An angle must not be larger than ${MAX_ANGLE.toString()}.`);
    return x;
  };
  const trigonometric = (of: (x: BigNumber) => BigNumber): NumberFunction =>
    costly(
      unary((x) => {
        const value = of(angle(x));
        return value.abs().lt(LEAST_SINE) && x.abs().gt(1) ? number(0) : value;
      }),
    );
  const growing = (x: BigNumber): BigNumber => {
    if (x.abs().gt(MAX_EXPONENT * Math.LN10)) throw tooLarge();
    return x;
  };
  const exact = (x: BigNumber): BigNumber => {
    if (!x.isInteger() || x.abs().gt(MAX_EXACT_INTEGER)) {
      throw new Error(`That needs whole numbers of at most ${MAX_EXACT_INTEGER}.`);
    }
    return x;
  };
  const gcd = (x: BigNumber, y: BigNumber): BigNumber => {
    let [a, b] = [exact(x).abs(), exact(y).abs()];
    while (!b.isZero()) [a, b] = [b, a.mod(b)];
    return a;
  };
  const lcm = (x: BigNumber, y: BigNumber): BigNumber =>
    x.isZero() || y.isZero() ? number(0) : x.div(gcd(x, y)).times(y).abs();

  return new Map<string, NumberFunction>([
    ['add', binary((x, y) => x.plus(y))],
    ['subtract', binary((x, y) => x.minus(y))],
    ['multiply', binary((x, y) => x.times(y))],
    ['divide', binary(quotient)],
    ['mod', binary(remainder)],
    [
      'pow',
      { ...binary(power), cost: ([, y]) => (y?.isInteger() !== true || y.abs().gt(CHEAP_EXPONENT) ? 1 : 0) },
    ],
    ['factorial', unary(factorials(one))],
    ['unaryMinus', unary((x) => x.neg())],
    ['unaryPlus', unary((x) => x)],
    ['sqrt', unary((x) => x.sqrt())],
    ['cbrt', unary((x) => x.cbrt())],
    ['abs', unary((x) => x.abs())],
    ['sign', unary((x) => number(x.isZero() ? 0 : x.s))],
    ['floor', unary((x) => x.floor())],
    ['ceil', unary((x) => x.ceil())],
    ['trunc', unary((x) => x.trunc())],
    ['round', round],
    ['exp', costly(unary((x) => growing(x).exp()))],
    ['log', log],
    ['ln', costly(unary((x) => x.ln()))],
    ['log10', costly(unary((x) => x.log(10)))],
    ['log2', costly(unary((x) => x.log(2)))],
    ['sin', trigonometric((x) => x.sin())],
    ['cos', trigonometric((x) => x.cos())],
    ['tan', trigonometric((x) => x.tan())],
    ['asin', costly(unary((x) => x.asin()))],
    ['acos', costly(unary((x) => x.acos()))],
    ['atan', costly(unary((x) => x.atan()))],
    ['min', fold((x, y) => (y.lt(x) ? y : x))],
    ['max', fold((x, y) => (y.gt(x) ? y : x))],
    ['sum', sum],
    ['mean', mean],
    ['gcd', { ...fold(gcd), cost: divisions }],
    ['lcm', { ...fold(lcm), cost: divisions }],
  ]);
}

/**
 * Euclid's algorithm needs at most five divisions per digit of the smaller number (Lamé's theorem). A number of
 * `MAX_DIGITS` digits costs one unit.
 */
function divisions([, ...rest]: readonly BigNumber[]): number {
  return rest.reduce((sum, { e }) => sum + (Math.max(e, 0) + 1) / MAX_DIGITS, 0);
}

function tooLarge(): Error {
  return new Error(`The numbers get too large: at most 1e${MAX_EXPONENT.toString()}.`);
}

function quotient(x: BigNumber, y: BigNumber): BigNumber {
  if (y.isZero()) throw new Error('Division by zero.');
  return x.div(y);
}

/** The remainder has the sign of the divisor: -1 mod 3 is 2. */
function remainder(x: BigNumber, y: BigNumber): BigNumber {
  if (y.isZero()) throw new Error('Division by zero.');
  const rest = x.mod(y);
  return rest.isZero() || rest.isNegative() === y.isNegative() ? rest : rest.plus(y);
}

function power(x: BigNumber, y: BigNumber): BigNumber {
  if (x.isZero() && y.isNegative()) throw new Error('Division by zero.');
  if (!x.isZero() && y.times(x.abs().log(10)).abs().gt(MAX_EXPONENT)) throw tooLarge();
  return x.pow(y);
}

/** Computes factorials with a table that grows on demand. */
function factorials(one: BigNumber): (x: BigNumber) => BigNumber {
  const table = [one];
  return (x) => {
    if (!x.isInteger() || x.isNegative() || x.gt(MAX_FACTORIAL)) {
      throw new Error(`A factorial needs a whole number from 0 to ${MAX_FACTORIAL.toString()}.`);
    }
    const wanted = x.toNumber();
    for (let n = table.length; n <= wanted; n++) table.push((table[n - 1] ?? one).times(n));
    return table[wanted] ?? one;
  };
}

function roundTo(x: BigNumber, places: BigNumber): BigNumber {
  if (!places.isInteger() || places.isNegative() || places.gt(MAX_DIGITS)) {
    throw new Error(`round takes 0 to ${MAX_DIGITS.toString()} decimal places.`);
  }
  return x.toDecimalPlaces(places.toNumber());
}
