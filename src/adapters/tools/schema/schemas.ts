import type { JsonObject, JsonValue } from '../../../core/model/json.js';
import type { Schemas } from '../../../core/ports/tool.js';
import type { Problem } from '../../../core/model/refusal.js';
import { createTimeLimit, TimeLimitError } from '../../platform/node/time-limit.js';
import { checkBounds, dialectPicker } from './dialects.js';
import { describeErrors } from './problems.js';

/** How long a schema may take to compile, and a value to check, in milliseconds. */
const COMPILE_MS = 2_000;
const CHECK_MS = 200;

type Check = (value: JsonValue) => readonly Problem[];

/**
 * Checks by Ajv, in the dialect that `$schema` names: draft-07, 2019-09, else 2020-12. Paths of problems are dotted and
 * relative to the value, '' for the value itself. `format` is not looked at, and a reference can only point into the
 * schema itself: nothing is ever fetched.
 *
 * Schemas come from MCP servers too, and Ajv turns them into code, so each is first held against its dialect's
 * meta-schema, which leaves only names, numbers and patterns that Ajv quotes; each gets an Ajv of its own, so that none
 * can take another's `$id`; and compiling as well as checking is stopped when it takes too long (`^(a+)+$`).
 */
export function createSchemas(): Schemas {
  const limit = createTimeLimit();
  const pick = dialectPicker();
  const checks = new WeakMap<JsonObject, Check>();

  function compile(schema: JsonObject): Check {
    checkBounds(schema);
    const validate = limit.run(COMPILE_MS, () => {
      const { dialect, problems } = pick(schema);
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
