import { describe, expect, it } from '@jest/globals';
import { createContext, Script } from 'node:vm';
import { dialectPicker } from '../../src/adapters/tools/schema/dialects.js';
import { createSchemas } from '../../src/adapters/tools/schema/schemas.js';
import type { JsonObject, JsonValue } from '../../src/core/model/json.js';

const schemas = createSchemas();
const DRAFT_7 = 'http://json-schema.org/draft-07/schema#';
const DRAFT_2019 = 'https://json-schema.org/draft/2019-09/schema';
const DRAFT_2020 = 'https://json-schema.org/draft/2020-12/schema';

/** The problems as `path: message`. */
function problems(schema: JsonObject, value: JsonValue): string[] {
  return schemas
    .compile(schema)(value)
    .map(({ path, message }) => `${path}: ${message}`);
}

describe('problems', () => {
  const schema = {
    type: 'object',
    properties: {
      expression: { type: 'string', minLength: 1 },
      count: { type: ['integer', 'null'], minimum: 3 },
      unit: { enum: ['celsius', 'kelvin'] },
      only: { const: 4 },
      list: {
        type: 'array',
        items: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } },
      },
      'a/b~c': { type: 'string' },
    },
    required: ['expression'],
    additionalProperties: false,
  };

  it('are none when the value fits', () => {
    expect(problems(schema, { expression: '1', count: null, list: [{ id: 'x' }] })).toEqual([]);
  });

  it.each<[JsonValue, string]>([
    [{}, 'expression: is required'],
    [{ expression: 1 }, 'expression: must be a string'],
    [{ expression: '' }, 'expression: must NOT have fewer than 1 characters'],
    [{ expression: '1', x: 1 }, 'x: is not a known property'],
    [{ expression: '1', count: 'a' }, 'count: must be an integer or null'],
    [{ expression: '1', count: 1 }, 'count: must be >= 3'],
    [{ expression: '1', unit: 'rankine' }, 'unit: must be one of "celsius", "kelvin"'],
    [{ expression: '1', only: 5 }, 'only: must be 4'],
    [{ expression: '1', list: [{ id: 'x' }, {}] }, 'list.1.id: is required'],
    [{ expression: '1', list: [{ id: 5 }] }, 'list.0.id: must be a string'],
    [{ expression: '1', 'a/b~c': 5 }, 'a/b~c: must be a string'],
    ['text', ': must be an object'],
    [null, ': must be an object'],
  ])('of %j', (value, expected) => {
    expect(problems(schema, value)).toEqual([expected]);
  });

  it('are listed together, each once, at most twenty', () => {
    expect(problems(schema, { count: 1, y: 1 })).toHaveLength(3);
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`x${index.toString()}`, 1]));
    expect(problems(schema, { expression: '1', ...many })).toHaveLength(20);
    const twice = { anyOf: [{ type: 'string' }, { type: 'string', minLength: 2 }] };
    expect(problems(twice, 1)).toEqual([': must be a string', ': must match a schema in anyOf']);
  });

  it('never repeat the value', () => {
    const secretive = { type: 'object', properties: { a: { type: 'string', pattern: '^x$', maxLength: 3 } } };
    expect(JSON.stringify(problems(secretive, { a: 'top-secret' }))).not.toContain('secret');
  });

  it('take inherited properties for missing', () => {
    expect(problems({ type: 'object', required: ['constructor', 'toString'] }, {})).toHaveLength(2);
    const value: unknown = JSON.parse('{"__proto__":1}');
    expect(problems({ type: 'object', additionalProperties: false }, value as JsonObject)).toHaveLength(1);
  });

  it('do not change the value', () => {
    const value = { a: '1' };
    problems({ type: 'object', properties: { a: { type: 'number' }, b: { default: 1 } } }, value);
    expect(value).toEqual({ a: '1' });
  });
});

describe('dialects', () => {
  it.each([DRAFT_7, DRAFT_2019, DRAFT_2020, 'https://example.org/unknown', undefined])('takes %s', (name) => {
    const schema = { ...(name === undefined ? {} : { $schema: name }), type: 'object', required: ['a'] };
    expect(problems(schema, {})).toEqual(['a: is required']);
  });

  it('reads each keyword as its dialect has it', () => {
    const tuple7 = { $schema: DRAFT_7, items: [{ type: 'string' }], additionalItems: false };
    expect(problems(tuple7, [1])).toEqual(['0: must be a string']);
    const tuple2020 = { $schema: DRAFT_2020, prefixItems: [{ type: 'string' }], items: false };
    expect(problems(tuple2020, [1])).toEqual(['0: must be a string']);
    const old = { $schema: DRAFT_7, prefixItems: [{ type: 'string' }] };
    expect(problems(old, [1])).toEqual([]);
    expect(problems({ dependentRequired: { a: ['b'] } }, { a: 1 })).toEqual([
      'b: is required together with a',
    ]);
  });

  it('takes a schema without a name that only draft-07 allows', () => {
    expect(problems({ items: [{ type: 'string' }] }, [1])).toEqual(['0: must be a string']);
  });

  it('ignores formats and keywords that it does not know', () => {
    expect(problems({ type: 'string', format: 'uri', 'x-order': 1, example: 'y' }, 'not a uri')).toEqual([]);
  });

  it('takes patterns that are wrong under the u flag only', () => {
    const schema = { type: 'string', pattern: '^[\\w-.]+$' };
    expect(problems(schema, 'a-b.c')).toEqual([]);
    expect(problems(schema, 'a b')).toHaveLength(1);
  });

  it.each([DRAFT_7, DRAFT_2019, DRAFT_2020])('follows a schema that contains itself in %s', ($schema) => {
    const tree = { $schema, properties: { leaf: { type: 'string' }, inner: { $ref: '#' } } };
    expect(problems(tree, { inner: { inner: { leaf: 1 } } })).toEqual(['inner.inner.leaf: must be a string']);
  });

  it('follows references within the schema, even when two have the same id', () => {
    const withId = (type: string): JsonObject => ({
      $id: 'https://example.org/tool',
      $defs: { a: { type } },
      properties: { a: { $ref: '#/$defs/a' } },
    });
    expect(problems(withId('string'), { a: 1 })).toEqual(['a: must be a string']);
    expect(problems(withId('number'), { a: 'x' })).toEqual(['a: must be a number']);
  });
});

describe('what it does not take', () => {
  it.each<[string, JsonObject]>([
    ['a wrong type', { type: 'objectt' }],
    ['a wrong keyword', { properties: 5 }],
    ['a reference to the network', { $ref: 'https://example.org/schema.json' }],
    ['a pattern that is none', { pattern: '(' }],
    ['a long pattern', { properties: { a: { pattern: 'a'.repeat(1001) } } }],
    ['a long pattern for names', { patternProperties: { ['a'.repeat(1001)]: {} } }],
    ['a large schema', { enum: Array.from({ length: 20_001 }, (_, index) => index) }],
  ])('%s', (_name, schema) => {
    expect(() => schemas.compile(schema)).toThrow(Error);
  });

  it('a deep schema', () => {
    let schema: JsonObject = {};
    for (let depth = 0; depth < 5000; depth++) schema = { not: schema };
    expect(() => schemas.compile(schema)).toThrow('nested deeper');
  });

  it('code in names, patterns and references', () => {
    const evil = `"'\`]);globalThis.stolen=1;//\u2028`;
    const schema: JsonObject = {
      $id: `https://example.org/${encodeURIComponent(evil)}`,
      $comment: evil,
      title: evil,
      [evil]: evil,
      $defs: { [evil]: { const: evil } },
      properties: { [evil]: { enum: [evil] }, other: { default: evil } },
      required: [evil],
      dependentRequired: { [evil]: [evil] },
    };
    expect(schemas.compile(schema)({ [evil]: 1 })).toHaveLength(1);
    expect(Reflect.get(globalThis, 'stolen')).toBeUndefined();
  });
});

describe('time', () => {
  it('bounds a catastrophic pattern', () => {
    const check = schemas.compile({ type: 'string', pattern: '^(a+)+$' });
    expect(check('aaa')).toEqual([]);
    expect(check(`${'a'.repeat(100)}!`)).toEqual([{ path: '', message: 'takes too long to check' }]);
    expect(check('aaa')).toEqual([]);
  });

  it('bounds a schema that branches without end', () => {
    const $defs: Record<string, JsonValue> = { d40: { type: 'number' } };
    for (let at = 0; at < 40; at++) {
      const next = { $ref: `#/$defs/d${(at + 1).toString()}` };
      $defs[`d${at.toString()}`] = { anyOf: [next, next] };
    }
    const check = schemas.compile({ $defs, $ref: '#/$defs/d0' });
    expect(check('x')).toEqual([{ path: '', message: 'takes too long to check' }]);
  });

  it('survives a value that is deeper than the stack', () => {
    const check = schemas.compile({ type: 'array', items: { $ref: '#' } });
    let value: JsonValue = [];
    for (let depth = 0; depth < 100_000; depth++) value = [value];
    expect(check(value)).toEqual([{ path: '', message: 'is nested too deeply' }]);
  });

  it('compiles a schema once', () => {
    const schema = { type: 'string' };
    expect(schemas.compile(schema)).toBe(schemas.compile(schema));
    expect(schemas.compile({ type: 'string' })).not.toBe(schemas.compile(schema));
  });
});

describe('the dialects of a process', () => {
  /** Stops the work after so many milliseconds, wherever it is. */
  function stopAfter(milliseconds: number, work: () => unknown): void {
    try {
      new Script('work()').runInContext(createContext({ work }), { timeout: milliseconds });
    } catch {
      // In the midst of it, or not at all.
    }
  }

  it('can be used again after they were stopped at any point of their first work', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    const problems = Array.from({ length: 40 }, (_, index) => {
      const pick = dialectPicker();
      stopAfter(index + 1, () => pick(schema)());
      return pick(schema)().problems;
    });
    expect(problems.flat()).toEqual([]);
  });
});
