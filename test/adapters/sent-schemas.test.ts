import '../support/property-seed.js';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createSchemas } from '../../src/adapters/tools/schema/schemas.js';
import { sentSchema } from '../../src/adapters/models/tool-schemas/sent-schema.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/core/model/json.js';
import { startUpstream, type Upstream } from '../support/upstream.js';
import { ask, collect, dialects, rigAt } from './ai-sdk-dialects.js';
import { exclusive, sample, toolSchema } from './any-schema.js';
import { anthropicProblems, googleProblems, openAiProblems, sentToGoogle } from './schema-rules.js';

const schemas = createSchemas();
const PROVIDERS = ['openai', 'anthropic', 'google'] as const;
const string = { type: 'string' };

/** What each provider refuses in the schema that it is sent. */
async function problemsOf(schema: JsonObject): Promise<string[]> {
  const google = await sentToGoogle(sentSchema(schema, 'google'));
  return [
    ...openAiProblems(sentSchema(schema, 'openai')),
    ...anthropicProblems(sentSchema(schema, 'anthropic')),
    ...(google === undefined ? [] : googleProblems(google)),
  ];
}

/** Schemas as servers publish them, what is sent to providers, and what to Google if it differs. */
const PUBLISHED: readonly {
  readonly what: string;
  readonly schema: JsonObject;
  readonly sent: JsonObject;
  readonly toGoogle?: JsonObject;
}[] = [
  {
    what: 'alternatives of required arguments',
    schema: {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { route: string, file: string, depth: { type: 'integer', minimum: 0 } },
      required: ['depth'],
      anyOf: [{ required: ['route'] }, { required: ['file'] }],
      additionalProperties: false,
    },
    sent: {
      type: 'object',
      properties: { route: string, file: string, depth: { type: 'integer', minimum: 0 } },
      required: ['depth'],
      additionalProperties: false,
    },
    toGoogle: {
      type: 'object',
      properties: { route: string, file: string, depth: { type: 'integer' } },
      required: ['depth'],
    },
  },
  {
    what: 'a union of objects with a discriminator',
    schema: {
      type: 'object',
      oneOf: [
        {
          properties: { op: { const: 'move' }, to: string },
          required: ['op', 'to'],
          additionalProperties: false,
        },
        { properties: { op: { const: 'delete' } }, required: ['op'], additionalProperties: false },
      ],
    },
    sent: {
      type: 'object',
      properties: { op: { type: 'string', enum: ['move', 'delete'] }, to: string },
      required: ['op'],
      additionalProperties: false,
    },
    toGoogle: {
      type: 'object',
      properties: { op: { type: 'string', enum: ['move', 'delete'] }, to: string },
      required: ['op'],
    },
  },
  {
    what: 'parts of an object',
    schema: {
      type: 'object',
      allOf: [{ $ref: '#/definitions/paged' }, { properties: { query: string }, required: ['query'] }],
      definitions: {
        paged: { type: 'object', properties: { page: { type: 'integer' } }, required: ['page'] },
      },
    },
    sent: {
      type: 'object',
      properties: { page: { type: 'integer' }, query: string },
      required: ['page', 'query'],
    },
  },
  {
    what: 'a tuple, and arrays without items',
    schema: {
      type: 'object',
      properties: {
        range: { type: 'array', items: [{ type: 'integer' }, string], minItems: 2, maxItems: 2 },
        list: { type: 'array' },
        point: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'number' }] },
      },
    },
    sent: {
      type: 'object',
      properties: {
        range: { type: 'array', items: { anyOf: [{ type: 'integer' }, string] }, minItems: 2, maxItems: 2 },
        list: { type: 'array', items: {} },
        point: { type: 'array', items: { type: 'number' } },
      },
    },
    toGoogle: {
      type: 'object',
      properties: {
        range: { type: 'array', items: { anyOf: [{ type: 'integer' }, string] } },
        list: {
          type: 'array',
          items: {
            anyOf: [
              { type: ['string', 'null'] },
              { type: 'number' },
              { type: 'boolean' },
              { type: 'object' },
              {
                type: 'array',
                items: { anyOf: [string, { type: 'number' }, { type: 'boolean' }, { type: 'object' }] },
              },
            ],
          },
        },
        point: { type: 'array', items: { type: 'number' } },
      },
    },
  },
  {
    what: 'lists of types and of mixed values',
    schema: {
      type: 'object',
      properties: {
        name: { type: ['string', 'null'], minLength: 1, description: 'A name.' },
        limit: { enum: [1, 'all', null] },
        version: { type: 'integer', enum: [1, 2], description: 'The version.' },
        kind: { type: 'string', enum: ['', 'shell'] },
        filter: { enum: [{ a: 1 }, ['b']] },
      },
    },
    sent: {
      type: 'object',
      properties: {
        name: { anyOf: [{ type: 'string', minLength: 1 }, { type: 'null' }], description: 'A name.' },
        limit: {
          anyOf: [{ type: 'string', enum: ['all'] }, { type: 'number', enum: [1] }, { type: 'null' }],
        },
        version: { type: 'integer', enum: [1, 2], description: 'The version.' },
        kind: { type: 'string', enum: ['', 'shell'] },
        filter: { anyOf: [{ type: 'object' }, { type: 'array', items: {} }] },
      },
    },
  },
  {
    what: 'formats and patterns of one engine',
    schema: {
      type: 'object',
      properties: {
        url: { type: 'string', format: 'uri' },
        at: { type: 'string', format: 'date-time' },
        hash: { type: 'string', pattern: '^0x[0-9a-fA-F]{64}$' },
        mail: { type: 'string', pattern: '^(?!\\.)[a-z.]+@' },
        label: { type: 'string', pattern: '^\\p{L}+$' },
      },
      patternProperties: { '^x-': string },
      additionalProperties: false,
    },
    sent: {
      type: 'object',
      properties: {
        url: { type: 'string', format: 'uri' },
        at: { type: 'string', format: 'date-time' },
        hash: { type: 'string', pattern: '^0x[0-9a-fA-F]{64}$' },
        mail: string,
        label: string,
      },
    },
    toGoogle: {
      type: 'object',
      properties: {
        url: string,
        at: { type: 'string', format: 'date-time' },
        hash: string,
        mail: string,
        label: string,
      },
    },
  },
  {
    what: 'a recursive reference',
    schema: {
      type: 'object',
      properties: { filter: { $ref: '#/$defs/filter' } },
      $defs: {
        filter: {
          type: 'object',
          description: 'A filter.',
          properties: { field: string, and: { type: 'array', items: { $ref: '#/$defs/filter' } } },
        },
      },
    },
    sent: {
      type: 'object',
      properties: {
        filter: {
          type: 'object',
          description: 'A filter.',
          properties: {
            field: string,
            and: { type: 'array', items: { type: 'object', description: 'A filter.' } },
          },
        },
      },
    },
  },
  {
    what: 'what no schema should be',
    schema: { type: 'object', properties: { a: true, b: false, c: { not: {} } }, required: ['a', 'z'] },
    sent: { type: 'object', properties: { a: {}, c: {}, z: {} }, required: ['a', 'z'] },
  },
];

describe('the schema that a provider is sent', () => {
  it.each(PUBLISHED)('has $what in the form that it accepts', async ({ schema, sent, toGoogle }) => {
    expect(await problemsOf(schema)).toEqual([]);
    expect(sentSchema(schema, 'openai-compatible')).toEqual(sent);
    expect(sentSchema(schema, 'openai')).toEqual(sent);
    expect(sentSchema(schema, 'anthropic')).toEqual(sent);
    if (toGoogle !== undefined) expect(sentSchema(schema, 'google')).toEqual(toGoogle);
  });

  it('lists for Google in words what its lists of values cannot have', () => {
    const properties = {
      version: { type: 'integer', enum: [1, 2], description: 'The version.' },
      kind: { enum: ['', 'shell'] },
      mode: { type: ['string', 'null'], enum: ['fast', null], description: 'The mode.' },
      either: { anyOf: [string, { type: 'number', description: 'Seconds.' }], description: 'A time.' },
    };
    expect(sentSchema({ type: 'object', properties }, 'google').properties).toEqual({
      version: { type: 'integer', description: 'The version. One of 1, 2.' },
      kind: { type: 'string', description: 'One of "", "shell".' },
      mode: { type: ['string', 'null'], enum: ['fast', null], description: 'The mode.' },
      either: {
        anyOf: [
          { type: 'string', description: 'A time.' },
          { type: 'number', description: 'Seconds.' },
        ],
      },
    });
  });

  it('describes to Anthropic the arguments that its properties cannot have', async () => {
    const properties = { path: string, $top: { type: 'integer' }, 'filter[name]': string };
    const schema = { type: 'object', properties, required: ['path', '$top'], additionalProperties: false };
    expect(await problemsOf(schema)).toEqual([]);
    expect(sentSchema(schema, 'anthropic')).toEqual({
      type: 'object',
      properties: { path: string },
      required: ['path'],
      description:
        'Further arguments: {"properties":{"$top":{"type":"integer"},"filter[name]":{"type":"string"}},"required":["$top"]}',
    });
  });

  it('is the same object as long as that of the tool is', () => {
    const schema = { type: 'object', properties: { a: string } };
    for (const provider of PROVIDERS) {
      expect(sentSchema(schema, provider)).toBe(sentSchema(schema, provider));
    }
    expect(sentSchema(schema, 'google')).not.toBe(sentSchema(schema, 'openai'));
  });

  it('satisfies the rules of each provider, and allows what the tool allows', async () => {
    let valid = 0;
    let tried = 0;
    await fc.assert(
      fc.asyncProperty(toolSchema(), fc.gen(), async (schema, gen) => {
        expect(await problemsOf(schema)).toEqual([]);
        const check = compiled(exclusive(schema));
        if (check === undefined) return;
        for (let n = 0; n < 5; n++) {
          const value = sample(schema, (below) => gen(fc.nat, { max: Math.max(0, below - 1) }));
          tried += 1;
          if (check(value).length > 0) continue;
          valid += 1;
          for (const provider of PROVIDERS) {
            if (provider === 'google' && hasNested(value)) continue;
            expect(schemas.compile(sentSchema(schema, provider))(value)).toEqual([]);
          }
        }
      }),
      { numRuns: 60 },
    );
    expect(valid / tried).toBeGreaterThan(0.3);
  }, 60_000);

  it('satisfies them whatever a tool server sends', async () => {
    const keywords = ['type', 'properties', 'required', 'items', 'anyOf', 'allOf', '$ref', '$id', 'enum'];
    const words = ['object', 'array', 'null', '#', '#/properties/a', '#/%', '#/anyOf/0', '__proto__', 'a'];
    const { json } = fc.letrec<{ json: JsonValue }>((tie) => ({
      json: fc.oneof(
        { maxDepth: 6, depthSize: 'large' },
        fc.oneof(fc.constantFrom<JsonValue>(...words, true, false, null, 0), fc.string()),
        fc.array(tie('json'), { maxLength: 4 }),
        fc.dictionary(fc.constantFrom(...keywords, 'const', 'a', '__proto__', 'constructor'), tie('json')),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(json, async (schema) => {
        if (isJsonObject(schema)) expect(await problemsOf(schema)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  }, 60_000);
});

describe('a hostile schema', () => {
  const deep = (levels: number, wrap: (inner: JsonValue) => JsonObject): JsonObject => {
    let schema = wrap({ type: 'string' });
    for (let n = 1; n < levels; n++) schema = wrap(schema);
    return schema;
  };
  const names = Array.from({ length: 2_000 }, (_, n) => `n${String(n)}`);
  const doubling = Object.fromEntries(
    names.slice(0, 30).map((name, n) => {
      const next = { $ref: `#/$defs/n${String(n + 1)}` };
      return [name, { type: 'object', properties: { a: next, b: next }, description: 'x'.repeat(100) }];
    }),
  );

  it.each<readonly [string, JsonObject]>([
    ['nested in properties', deep(50_000, (inner) => ({ type: 'object', properties: { a: inner } }))],
    ['nested in allOf', deep(50_000, (inner) => ({ allOf: [inner, inner] }))],
    ['nested in anyOf', deep(50_000, (inner) => ({ anyOf: [inner, { type: 'array', items: inner }] }))],
    ['whose references double', { $ref: '#/$defs/n0', $defs: doubling }],
    [
      'whose references repeat a long text',
      {
        allOf: names.map(() => ({ $ref: '#/$defs/a' })),
        $defs: { a: { description: 'x'.repeat(60_000), required: names } },
      },
    ],
    [
      'with many alternatives of many names',
      { type: 'object', anyOf: names.map((name) => ({ required: [name, 'a', 'b'] })), required: names },
    ],
    ['with many parts', { allOf: names.map((name) => ({ properties: { [name]: { type: 'string' } } })) }],
    [
      'with many values',
      { properties: { a: { enum: names }, b: { anyOf: names.map((name) => ({ const: name })) } } },
    ],
    ['with a deep example', { properties: { a: { default: deep(50_000, (inner) => ({ a: inner })) } } }],
    [
      'that refers to itself',
      { $ref: '#', allOf: [{ $ref: '#' }], properties: { a: { $ref: '#/properties/a' } } },
    ],
  ])('%s is read within bounds', async (_, schema) => {
    const before = process.cpuUsage();
    for (const provider of PROVIDERS) {
      expect(JSON.stringify(sentSchema(schema, provider)).length).toBeLessThan(300_000);
    }
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
    expect(await problemsOf(schema)).toEqual([]);
  });

  it('is described by its upper levels if it is too large', () => {
    const sent = sentSchema(
      { type: 'object', properties: { a: { $ref: '#/$defs/n0' } }, $defs: doubling },
      'openai',
    );
    expect(sent).toMatchObject({ properties: { a: { properties: { a: { type: 'object' } } } } });
  });
});

describe.each(dialects)('a request of a $provider rig', (dialect) => {
  let upstream: Upstream;
  beforeEach(async () => {
    upstream = await startUpstream();
  });
  afterEach(() => upstream.close());

  it('has the schema of a tool in the form that the provider accepts', async () => {
    upstream.next((reply) => {
      dialect.say(reply, 'Hello');
      dialect.finish(reply);
    });
    const parameters = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      oneOf: [
        { properties: { url: { type: 'string', format: 'uri' } } },
        { properties: { ids: { type: 'array' } } },
      ],
    };
    const tool = { name: 'files.read', description: 'Reads files.', parameters };
    await collect(rigAt(upstream.url, dialect), ask('hi', { tools: [tool] }));
    const [request] = upstream.requests;
    const body = JSON.stringify(request?.body);
    expect(body).toMatch(/"url":\{"type":"string"/);
    expect(body).toMatch(/"ids":\{"type":"array","items":\{/);
    expect(body).not.toMatch(/oneOf|\$schema/);
  });

  it('reads the schemas of a new list one in each iteration of the event loop', async () => {
    upstream.next((reply) => {
      dialect.say(reply, 'Hello');
      dialect.finish(reply);
    });
    let iteration = 0;
    const count = (): void => {
      iteration += 1;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    const readIn = new Map<string, Set<number>>();
    const tools = ['first', 'second', 'third'].map((name) => {
      const iterations = new Set<number>();
      readIn.set(name, iterations);
      // The schema reader alone asks for this.
      const properties = {
        get at() {
          iterations.add(iteration);
          return { type: 'string' };
        },
      };
      return { name, description: 'Reads.', parameters: { type: 'object', properties } };
    });
    await collect(rigAt(upstream.url, dialect), ask('hi', { tools }));
    clearImmediate(counting);
    const iterations = [...readIn.values()].flatMap((found) => [...found]);
    expect(iterations).toHaveLength(tools.length);
    expect(new Set(iterations).size).toBe(tools.length);
  });
});

function compiled(schema: JsonObject) {
  try {
    return schemas.compile(schema);
  } catch {
    return undefined;
  }
}

/** True for an array, or null, in an array: Google's API needs the type of elements. */
function hasNested(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const inner: JsonValue[] = Object.values(value);
  if (Array.isArray(value) && inner.some((item) => item === null || Array.isArray(item))) return true;
  return inner.some(hasNested);
}
