import { Ajv } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonObject, JsonValue } from '../../../core/model/json.js';
import type { Problem } from '../../../core/model/refusal.js';
import { describeErrors } from './problems.js';

const MAX_DEPTH = 64;
const MAX_VALUES = 20_000;
const MAX_PATTERN = 1_000;

type Compiler = Ajv | Ajv2019 | Ajv2020;

/** A version of JSON Schema. */
interface Dialect {
  /** What its meta-schema finds wrong with a schema. */
  problemsOf(schema: JsonObject): readonly Problem[];
  /** A compiler that has seen no schema yet. */
  compiler(): Compiler;
}

type Constructor = typeof Ajv | typeof Ajv2019 | typeof Ajv2020;

/** Some schemas in the wild have patterns that are wrong under the `u` flag only, such as `[\w-.]`. */
const regExp = Object.assign(
  (pattern: string, flags: string): RegExp => {
    try {
      return new RegExp(pattern, flags);
    } catch {
      return new RegExp(pattern); // throws what is to be said of the pattern when it is wrong in both ways
    }
  },
  { code: 'regExp' },
);

const OPTIONS = {
  strict: false,
  validateFormats: false,
  allErrors: true,
  ownProperties: true, // else `constructor` is a property of every object
  logger: false,
  code: { regExp },
} as const;

function dialect(constructor: Constructor): Dialect {
  let idle: Compiler | undefined;
  return {
    problemsOf(schema) {
      const compiler = idle ?? new constructor(OPTIONS);
      // Stopped by a time limit in the midst of its work, a compiler is of no more use: its `finally` blocks did not
      // run.
      idle = undefined;
      const problems = compiler.validateSchema(schema) === true ? [] : describeErrors(compiler.errors ?? []);
      idle = compiler;
      return problems;
    },
    compiler: () => new constructor({ ...OPTIONS, meta: false, validateSchema: false }),
  };
}

/**
 * Picks a schema's dialect by its `$schema`. One that names none, or none that we know, is taken for 2020-12 (as the
 * Model Context Protocol says), or for draft-07 where it only is right as that.
 */
export function dialectPicker(): (schema: JsonObject) => { dialect: Dialect; problems: readonly Problem[] } {
  const named = [
    { name: 'json-schema.org/draft-07/', dialect: dialect(Ajv) },
    { name: 'json-schema.org/draft/2019-09/', dialect: dialect(Ajv2019) },
    { name: 'json-schema.org/draft/2020-12/', dialect: dialect(Ajv2020) },
  ] as const;
  return (schema) => {
    const { $schema, ...body } = schema;
    const found = named.find(({ name }) => typeof $schema === 'string' && $schema.includes(name));
    const tried = (found === undefined ? [named[2], named[0]] : [found]).map(({ dialect: candidate }) => ({
      dialect: candidate,
      problems: candidate.problemsOf(body),
    }));
    const [first, second] = tried;
    if (first === undefined) throw new Error('There is no dialect.');
    return first.problems.length > 0 && second?.problems.length === 0 ? second : first;
  };
}

/**
 * Bounds on what is given to the compiler. Walks without recursion.
 * @throws Error when a schema is too deep, too large, or has a pattern that is too long
 */
export function checkBounds(schema: JsonObject): void {
  let level: (readonly [string, JsonValue])[] = [['', schema]];
  let values = 0;
  for (let depth = 0; level.length > 0; depth++) {
    values += level.length;
    if (depth > MAX_DEPTH)
      throw new Error(`The schema is nested deeper than ${MAX_DEPTH.toString()} levels.`);
    if (values > MAX_VALUES) throw new Error(`The schema has more than ${MAX_VALUES.toString()} values.`);
    const long = level.find(([key, value]) => key === 'pattern' && isLong(value));
    if (long !== undefined) throw new Error(`A pattern is longer than ${MAX_PATTERN.toString()} characters.`);
    level = level.flatMap(([key, value]) => {
      if (typeof value !== 'object' || value === null) return [];
      const inner = Object.entries(value);
      if (key === 'patternProperties' && inner.some(([pattern]) => isLong(pattern))) {
        throw new Error(`A pattern is longer than ${MAX_PATTERN.toString()} characters.`);
      }
      return inner;
    });
  }
}

function isLong(pattern: JsonValue): boolean {
  return typeof pattern === 'string' && pattern.length > MAX_PATTERN;
}
