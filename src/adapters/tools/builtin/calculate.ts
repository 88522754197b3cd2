import type { Tool } from '../../../core/ports/tool.js';
import { createTimeLimit, TimeLimitError } from '../../platform/node/time-limit.js';
import { createArithmetic, DIGITS, type Arithmetic } from './arithmetic.js';

/**
 * Time limit of an evaluation, in milliseconds: a safety net, since the bounds of `Arithmetic` stop long work earlier.
 */
const LIMIT_MS = 500;

/** The tool `calculate`: `{expression}` → `{expression, result}`, `result` a decimal number as a string. */
export function createCalculate(): Tool {
  const limit = createTimeLimit();
  let loading: Promise<Arithmetic> | undefined;
  return {
    name: 'calculate',
    description:
      'Calculates an arithmetic expression with exact decimals, such as "12*(3+4)", "sqrt(2)", "5!", "2^64", "15% * 80". ' +
      'Knows + - * / ^ % mod !, parentheses, pi, e, and the usual functions (angles in radians).',
    parameters: {
      type: 'object',
      properties: {
        expression: { type: 'string', description: 'The expression.', minLength: 1, maxLength: 500 },
      },
      required: ['expression'],
      additionalProperties: false,
    },
    sideEffects: 'none',
    timeoutMs: null,
    async run({ expression }) {
      if (typeof expression !== 'string') throw new Error('expression must be a string.');
      loading ??= loadArithmetic();
      const arithmetic = await loading;
      try {
        return { expression, result: limit.run(LIMIT_MS, () => arithmetic(expression)) };
      } catch (error) {
        if (error instanceof TimeLimitError)
          throw new Error('The expression takes too long to calculate.', { cause: error });
        throw error;
      }
    },
  };
}

/** Called on first use, because mathjs is slow to load. */
async function loadArithmetic(): Promise<Arithmetic> {
  const { default: mathjs } = await import('mathjs/lib/browser/math.js');
  const math = mathjs.create(mathjs.all);
  math.config({ number: 'BigNumber', precision: DIGITS }); // this build ignores options passed to `create`
  const arithmetic = createArithmetic(math);
  arithmetic('1 + 1'); // mathjs initializes itself here, outside the time limit of an expression
  return arithmetic;
}
