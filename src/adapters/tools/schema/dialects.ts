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
  /** Compiles the meta-schema, which takes long on a slow machine, unless that is done. */
  prepare(): void;
  /** Validates a schema against the dialect's meta-schema. */
  problemsOf(schema: JsonObject): readonly Problem[];
  /** Creates a compiler that holds no schema. */
  compiler(): Compiler;
}

type Constructor = typeof Ajv | typeof Ajv2019 | typeof Ajv2020;

/**
 * Retries without the `u` flag: some published schemas use patterns that are invalid only with it, such as `[\w-.]`.
 */
const regExp = Object.assign(
  (pattern: string, flags: string): RegExp => {
    try {
      return new RegExp(pattern, flags);
    } catch {
      return new RegExp(pattern);
    }
  },
  { code: 'regExp' },
);

const OPTIONS = {
  strict: false,
  validateFormats: false,
  allErrors: true,
  ownProperties: true, // otherwise every object would have the property `constructor`
  logger: false,
  code: { regExp },
} as const;

function dialect(constructor: Constructor): Dialect {
  let idle: Compiler | undefined;
  const prepare = (): Compiler => {
    const compiler = new constructor(OPTIONS);
    void compiler.validateSchema({});
    return compiler;
  };
  return {
    prepare() {
      idle ??= prepare();
    },
    problemsOf(schema) {
      const compiler = idle ?? prepare();
      // Discard a compiler that the time limit interrupts: its `finally` blocks did not run.
      idle = undefined;
      const problems = compiler.validateSchema(schema) === true ? [] : describeErrors(compiler.errors ?? []);
      idle = compiler;
      return problems;
    },
    compiler: () => new constructor({ ...OPTIONS, meta: false, validateSchema: false }),
  };
}

/** The dialect of a schema, and what is wrong with the schema in it. */
interface Picked {
  readonly dialect: Dialect;
  readonly problems: readonly Problem[];
}

/**
 * Prepares to pick a schema's dialect by its `$schema`. Without a known `$schema`, the dialect is 2020-12 (the default of
 * the Model Context Protocol), or draft-07 if the schema is valid only there.
 * @returns how to pick a schema's dialect: prepares what does not depend on the schema, and returns the rest of the work
 */
export function dialectPicker(): (schema: JsonObject) => () => Picked {
  const named = [
    { name: 'json-schema.org/draft-07/', dialect: dialect(Ajv) },
    { name: 'json-schema.org/draft/2019-09/', dialect: dialect(Ajv2019) },
    { name: 'json-schema.org/draft/2020-12/', dialect: dialect(Ajv2020) },
  ] as const;
  return (schema) => {
    const { $schema, ...body } = schema;
    const found = named.find(({ name }) => typeof $schema === 'string' && $schema.includes(name));
    const candidates = (found === undefined ? [named[2], named[0]] : [found]).map(({ dialect: one }) => one);
    for (const candidate of candidates) candidate.prepare();
    return () => {
      const [first, second] = candidates.map((one) => ({ dialect: one, problems: one.problemsOf(body) }));
      if (first === undefined) throw new Error('No schema dialect is available.');
      return first.problems.length > 0 && second?.problems.length === 0 ? second : first;
    };
  };
}

/**
 * Checks the size of a schema before it reaches the compiler. Iterative, so that deep nesting cannot overflow the
 * stack.
 * @throws Error when the schema is nested too deeply, has too many values, or contains a pattern that is too long
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
