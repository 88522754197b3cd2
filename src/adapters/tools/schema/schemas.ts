import type { JsonObject, JsonValue } from '../../../core/model/json.js';
import type { Schemas } from '../../../core/ports/tool.js';
import type { Problem } from '../../../core/model/refusal.js';
import { createTimeLimit, TimeLimitError } from '../../platform/node/time-limit.js';
import { checkBounds, dialectPicker } from './dialects.js';
import { describeErrors } from './problems.js';

/** Time limits for compiling a schema and for validating a value, in milliseconds. */
const COMPILE_MS = 500;
const CHECK_MS = 200;

type Check = (value: JsonValue) => readonly Problem[];

/**
 * Validates with Ajv, in the dialect that `$schema` names (draft-07, 2019-09 or 2020-12; see `dialectPicker` for the
 * default). Paths of problems are dotted and relative to the value, '' for the value itself. Ignores `format`.
 * References resolve only within the schema; nothing is ever fetched.
 *
 * MCP servers supply schemas, and Ajv compiles them to code. Therefore each schema is first validated against its
 * dialect's meta-schema, so that only names, numbers and patterns, which Ajv quotes, reach the code. Each schema has
 * its own Ajv instance, so that none can claim the `$id` of another. Time limits stop slow patterns such as `^(a+)+$`.
 */
export function createSchemas(): Schemas {
  const limit = createTimeLimit();
  const pick = dialectPicker();
  const checks = new WeakMap<JsonObject, Check>();

  function compile(schema: JsonObject): Check {
    checkBounds(schema);
    // Outside the limit: this takes long once, whatever the schema is.
    const pickDialect = pick(schema);
    const validate = limit.run(COMPILE_MS, () => {
      const { dialect, problems } = pickDialect();
      const [first] = problems;
      if (first !== undefined) throw new Error(`The schema is not valid: ${first.path} ${first.message}`);
      const { $schema: _, ...body } = schema;
      return dialect.compiler().compile(body);
    });
    return (value) => {
      try {
        return limit.run(CHECK_MS, () => (validate(value) ? [] : describeErrors(validate.errors ?? [])));
      } catch (error) {
        if (error instanceof TimeLimitError) return [{ path: '', message: 'takes too long to check' }];
        if (error instanceof RangeError) return [{ path: '', message: 'is nested too deeply' }];
        throw error;
      }
    };
  }

  return {
    compile(schema) {
      const known = checks.get(schema);
      if (known !== undefined) return known;
      const check = compile(schema);
      checks.set(schema, check);
      return check;
    },
  };
}
