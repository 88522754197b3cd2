import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { hashTypedData as viemHash } from 'viem';
import { ChainError } from '../../src/adapters/tools/evm/chain-error.js';
import { hashTypedData } from '../../src/adapters/tools/evm/requests/typed-data-hash.js';
import { checkTypedData, readTypedData } from '../../src/adapters/tools/evm/requests/typed-data.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/core/model/json.js';

const ADDRESS = '0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826';

/** The example of EIP-712, with a list. */
const MAIL = {
  types: {
    EIP712Domain: [
      { name: 'name', type: 'string' },
      { name: 'version', type: 'string' },
      { name: 'chainId', type: 'uint256' },
      { name: 'verifyingContract', type: 'address' },
    ],
    Person: [
      { name: 'name', type: 'string' },
      { name: 'wallet', type: 'address' },
    ],
    Mail: [
      { name: 'from', type: 'Person' },
      { name: 'to', type: 'Person' },
      { name: 'contents', type: 'string' },
    ],
  },
  primaryType: 'Mail',
  domain: {
    name: 'Ether Mail',
    version: '1',
    chainId: 1,
    verifyingContract: '0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC',
  },
  message: {
    from: { name: 'Cow', wallet: ADDRESS },
    to: { name: 'Bob', wallet: '0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB' },
    contents: 'Hello, Bob!',
  },
} as const satisfies JsonObject;

/** Typed data with one field. */
function single(type: string, value: JsonValue | undefined, domain: JsonObject = {}): JsonObject {
  return {
    types: {
      EIP712Domain: Object.keys(domain).map((name) => ({ name, type: 'uint256' })),
      T: [{ name: 'a', type }],
    },
    primaryType: 'T',
    domain,
    message: value === undefined ? {} : { a: value },
  };
}

/** Null: refused in words. Anything else that is thrown fails the test. */
function hashOf(given: JsonObject): string | null {
  try {
    return hashTypedData(readTypedData(given));
  } catch (error) {
    if (!(error instanceof ChainError)) throw error;
    expect(error.message.length).toBeLessThan(600);
    expect(error.message).toMatch(/^[^\n]+\.$/);
    return null;
  }
}

/** The hash by the client library, which takes typed data as it is. */
function reference(given: JsonObject): string {
  const parameters: unknown = given;
  return viemHash(parameters as Parameters<typeof viemHash>[0]);
}

describe('hashTypedData', () => {
  it('computes the hash of the example in EIP-712', () => {
    expect(hashOf(MAIL)).toBe('0xbe609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2');
  });

  it.each<[string, JsonValue]>([
    ['uint8', 255],
    ['uint256', String(2n ** 256n - 1n)],
    ['uint256', '0xff'],
    ['int8', -128],
    ['int256', String(-(2n ** 255n))],
    ['bool', true],
    ['bytes', '0x00Ff'],
    ['bytes', '0x'],
    ['bytes3', '0x010203'],
    ['string', ''],
    ['string', 'üñï 🍄 \ud800'],
    ['address', ADDRESS],
    ['uint8[]', []],
    [
      'uint8[2][]',
      [
        [1, 2],
        [3, 4],
      ],
    ],
    ['bytes[]', ['0x', '0x01']],
  ])('encodes %s %j as the client library does', (type, value) => {
    expect(hashOf(single(type, value))).toBe(reference(single(type, value)));
  });

  it('encodes nested and recursive structs as the client library does', () => {
    const node = (value: number, ...children: readonly JsonValue[]) => ({ value, children });
    const given = {
      ...single('uint8', 1),
      types: {
        EIP712Domain: [],
        Node: [
          { name: 'value', type: 'uint8' },
          { name: 'children', type: 'Node[]' },
        ],
        Tree: [
          { name: 'root', type: 'Node' },
          { name: 'leaf', type: 'Leaf[2]' },
        ],
        Leaf: [],
      },
      primaryType: 'Tree',
      message: { root: node(1, node(2, node(3)), node(4)), leaf: [{}, {}] },
    };
    expect(hashOf(given)).toBe(reference(given));
  });

  const scalar = fc.oneof(
    fc.tuple(fc.constant('uint16'), fc.nat(65_535)),
    fc.tuple(fc.constant('int256'), fc.bigInt({ min: -(2n ** 255n), max: 2n ** 255n - 1n }).map(String)),
    fc.tuple(fc.constant('bool'), fc.boolean()),
    fc.tuple(fc.constant('string'), fc.string({ unit: 'binary' })),
    fc.tuple(
      fc.constant('bytes'),
      fc.uint8Array({ maxLength: 70 }).map((b) => `0x${Buffer.from(b).toString('hex')}`),
    ),
    fc.tuple(fc.constant('bytes4'), fc.constant('0xdeadbeef')),
    fc.tuple(fc.constant('address'), fc.constant(ADDRESS.toLowerCase())),
  );
  const field = scalar.chain(([type, value]) =>
    fc.oneof(
      fc.constant([type, value] as const),
      fc.nat(3).map((count) => [`${type}[]`, Array<JsonValue>(count).fill(value)] as const),
      fc.constant([`${type}[1][]`, [[value]]] as const),
    ),
  );

  it('agrees with the client library on made-up structs', () => {
    fc.assert(
      fc.property(fc.array(fc.array(field, { maxLength: 5 }), { minLength: 1, maxLength: 4 }), (structs) => {
        // Each struct refers to the one behind it.
        const types = Object.fromEntries(
          structs.map((fields, at) => [
            `S${String(at)}`,
            [
              ...fields.map(([type], index) => ({ name: `f${String(index)}`, type })),
              ...(at + 1 < structs.length ? [{ name: 'next', type: `S${String(at + 1)}` }] : []),
            ],
          ]),
        );
        const message = structs.reduceRight<JsonObject | undefined>(
          (next, fields) => ({
            ...Object.fromEntries(fields.map(([, value], index) => [`f${String(index)}`, value])),
            ...(next !== undefined && { next }),
          }),
          undefined,
        );
        const given: JsonObject = {
          types: { EIP712Domain: [], ...types },
          primaryType: 'S0',
          domain: {},
          message: message ?? {},
        };
        expect(hashOf(given)).toBe(reference(given));
      }),
    );
  });

  it('hashes a large message with large types in bounded time', () => {
    const fields = Array.from({ length: 190 }, (_, n) => ({
      name: `f${String(n)}${'x'.repeat(110)}`,
      type: 'uint8',
    }));
    const given = {
      types: {
        EIP712Domain: [],
        T: [{ name: 'a', type: 'A[]' }],
        A: [{ name: 'b', type: 'B[]' }],
        B: fields,
      },
      primaryType: 'T',
      domain: {},
      message: { a: Array.from({ length: 3_500 }, () => ({ b: [] })) },
    };
    const begin = performance.now();
    expect(hashOf(given)).not.toBeNull();
    // Hashing the type for each value would take half a minute.
    expect(performance.now() - begin).toBeLessThan(5_000);
  });
});

describe('checkTypedData', () => {
  it('takes the chain of the request, however it is written, and typed data of no chain', () => {
    for (const chainId of [1, '1', '0x1'])
      checkTypedData(1, { ...MAIL, domain: { ...MAIL.domain, chainId } });
    checkTypedData(1, single('uint8', 1));
  });

  it.each<[JsonValue]>([[5], ['5'], ['0x5'], ['18446744073709551617']])('refuses the chain %j', (chainId) => {
    expect(() => {
      checkTypedData(1, { ...MAIL, domain: { ...MAIL.domain, chainId } });
    }).toThrow(`domain.chainId: must be 1, the chain of the request, not ${JSON.stringify(chainId)}.`);
  });

  it.each<[string, JsonValue | undefined, string]>([
    ['uint8', 256, 'message.a: must be an integer that fits uint8'],
    ['uint8', -1, 'message.a: must be an integer that fits uint8'],
    ['uint256', 2 ** 60, 'message.a: must be an integer that fits uint256, as a decimal string'],
    ['uint256', 1.5, 'must be an integer'],
    ['uint256', ' 5', 'must be an integer'],
    ['uint256', '', 'must be an integer'],
    ['uint256', '9'.repeat(90), 'must be an integer'],
    ['uint256', true, 'must be an integer'],
    [
      'uint256',
      undefined,
      'message.a: must be an integer that fits uint256, as a decimal string when it is large; it is missing.',
    ],
    ['bool', 'false', 'message.a: must be true or false; not "false".'],
    ['bool', 1, 'must be true or false'],
    ['string', 5, 'must be text'],
    ['string', null, 'must be text; not null'],
    ['address', 'vitalik.eth', 'must be an address'],
    ['bytes', 'abc', 'must be bytes in hex'],
    ['bytes', '0xabc', 'must be bytes in hex'],
    ['bytes2', '0xabcdef', 'must be bytes2 in hex'],
    ['uint8[]', {}, 'must be a list'],
    ['uint8[2]', [1], 'must be a list of 2 values'],
    ['uint8[]', [1, 'x'], 'message.a[1]: must be an integer'],
    ['T', 5, 'message.a: must be an object of the type T'],
    ['T', null, 'must be an object of the type T'],
    ['T', { a: { b: 1 } }, 'message.a.a.a: must be an object of the type T; it is missing.'],
  ])('refuses for %s the value %j', (type, value, words) => {
    expect(() => readTypedData(single(type, value))).toThrow(words);
  });

  it.each([
    ...[
      'uint',
      'int',
      'uint7',
      'uint264',
      'uint08',
      'bytes0',
      'bytes33',
      'Ghost',
      'Ghost[]',
      'toString',
      '__proto__',
    ],
    ...[
      'constructor',
      'uint8[',
      'uint8]',
      'uint8[-1]',
      'uint8[0]',
      'uint8[01]',
      'uint8[][][][][]',
      '',
      ' uint8',
    ],
    ...['uint8[1e3]', 'mapping', 'function', 'fixed128x18', 'tuple', `A${'a'.repeat(500)}`, 'uint8\n'],
  ])('refuses the type %j', (type) => {
    expect(() => readTypedData(single(type, 1))).toThrow('types.T[0].type: must be a type of EIP-712');
  });

  const field = { name: 'a', type: 'uint8' };
  it.each<[string, JsonObject, string]>([
    ['no types', { ...MAIL, types: null }, 'types: must map names to lists of fields, not null.'],
    ['a list of types', { ...MAIL, types: [] }, 'types: must map names'],
    ['no domain type', { ...single('uint8', 1), types: { T: [field] } }, 'types.EIP712Domain: must list'],
    ['no domain', { ...MAIL, domain: null }, 'domain: must be an object of the type EIP712Domain; not null.'],
    ...[
      [
        { name: 'chainId', type: 'uint256' },
        { name: 'name', type: 'string' },
      ],
      [{ name: 'chainId', type: 'uint64' }],
      [
        { name: 'name', type: 'string' },
        { name: 'shop', type: 'string' },
      ],
    ].map((fields): [string, JsonObject, string] => [
      'a domain with the fields ' + fields.map(({ name, type }) => `${type} ${name}`).join(', '),
      {
        ...MAIL,
        types: { ...MAIL.types, EIP712Domain: fields },
        domain: { name: 'x', chainId: 1, shop: 'y' },
      },
      'types.EIP712Domain: must have fields of EIP-712 alone, in this order: string name, string version, uint256',
    ]),
    ['no message', { ...MAIL, message: 'x' }, 'message: must be an object of the type Mail'],
    ['an unknown primary type', { ...MAIL, primaryType: 'Post' }, 'primaryType: must be one of the types'],
    [
      'an inherited primary type',
      { ...MAIL, primaryType: 'valueOf' },
      'primaryType: must be one of the types',
    ],
    ['the domain as primary type', { ...MAIL, primaryType: 'EIP712Domain' }, 'primaryType: must be one of'],
    ['other keys', { ...MAIL, note: 1 }, 'and no others such as "note".'],
    [
      'an unsigned field',
      { ...MAIL, message: { ...MAIL.message, hidden: 1 } },
      'message: has the field "hidden"',
    ],
    [
      'an unsigned chain',
      { ...single('uint8', 1), domain: { chainId: 1 } },
      'domain: has the field "chainId"',
    ],
    [
      'a struct named like a type',
      { ...MAIL, types: { ...MAIL.types, uint256: [] } },
      'cannot be the name of a struct',
    ],
    [
      'a struct with a bad name',
      { ...MAIL, types: { ...MAIL.types, 'A B': [] } },
      'cannot be the name of a struct',
    ],
    [
      'a struct that is no list',
      { ...MAIL, types: { ...MAIL.types, A: {} } },
      'types.A: must be a list of fields',
    ],
    [
      'a field with a bad name',
      { ...MAIL, types: { ...MAIL.types, A: [{ name: 'a,b', type: 'uint8' }] } },
      'types.A[0].name:',
    ],
    [
      'a field twice',
      { ...MAIL, types: { ...MAIL.types, A: [field, field] } },
      'types.A[1].name: the type has another field a.',
    ],
    [
      'a field with more keys',
      { ...MAIL, types: { ...MAIL.types, A: [{ ...field, x: 1 }] } },
      'types.A[0]: must be {',
    ],
  ])('refuses %s', (_what, given, words) => {
    expect(() => readTypedData(given)).toThrow(words);
  });

  it('takes each of the domain fields of EIP-712', () => {
    const fields = [...MAIL.types.EIP712Domain, { name: 'salt', type: 'bytes32' }];
    const domain: JsonObject = { ...MAIL.domain, salt: `0x${'07'.repeat(32)}` };
    for (const kept of [fields, ...fields.map((one) => fields.filter((field) => field !== one)), []]) {
      const types = { ...MAIL.types, EIP712Domain: kept };
      const values = kept.map(({ name }) => [name, domain[name] ?? null] as const);
      const given = { ...MAIL, types, domain: Object.fromEntries(values) };
      expect(hashOf(given)).toBe(reference(given));
    }
  });

  it('refuses types named like properties of every object', () => {
    const types: unknown = JSON.parse('{"EIP712Domain": [], "__proto__": [{"name": "a", "type": "uint8"}]}');
    if (!isJsonObject(types)) throw new Error('no object');
    const given = { types, primaryType: '__proto__', domain: {}, message: { a: 1 } };
    expect(() => readTypedData(given)).toThrow('"__proto__" cannot be the name of a struct');
  });

  it.each<[string, JsonObject, string]>([
    ['64 KiB', single('string', 'x'.repeat(66_000)), 'must not be larger than 65536 bytes of JSON'],
    ['16 levels', { ...MAIL, message: nested(20_000) }, 'must not be nested deeper than 16 levels'],
    [
      '200 types',
      { ...MAIL, types: Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`T${String(n)}`, []])) },
      'types: must not be more than 200.',
    ],
    [
      '200 fields',
      {
        ...MAIL,
        types: { A: Array.from({ length: 201 }, (_, n) => ({ name: `f${String(n)}`, type: 'bool' })) },
      },
      'must not have more than 200 fields together',
    ],
  ])('takes no more than %s', (_what, given, words) => {
    expect(() => readTypedData(given)).toThrow(words);
  });

  it('takes or refuses whatever is put in place of a part, and hashes what it takes', () => {
    const paths = [
      ...[
        ['types'],
        ['types', 'EIP712Domain'],
        ['types', 'Mail'],
        ['types', 'Mail', '0'],
        ['types', 'Mail', '0', 'type'],
      ],
      ...[
        ['primaryType'],
        ['domain'],
        ['domain', 'chainId'],
        ['message'],
        ['message', 'from'],
        ['message', 'contents'],
      ],
    ];
    const types = fc.stringMatching(/^[a-zA-Z_]{0,4}[0-9]{0,3}(\[[0-9]{0,3}\]){0,5}$/);
    const junk = fc.oneof(
      fc.jsonValue({ maxDepth: 4 }),
      types,
      fc.constantFrom('Mail', 'Person[]', '__proto__'),
    );
    fc.assert(
      fc.property(fc.constantFrom(...paths), junk, (path, value) => {
        const given = replaced(MAIL, path, value as JsonValue);
        const hash = isJsonObject(given) ? hashOf(given) : null;
        if (hash !== null && isJsonObject(given)) expect(hash).toBe(reference(given));
      }),
      { numRuns: 1_000 },
    );
  });
});

function nested(levels: number): JsonObject {
  let value: JsonObject = {};
  for (let level = 0; level < levels; level++) value = { a: value };
  return value;
}

function replaced(target: JsonValue | undefined, path: readonly string[], value: JsonValue): JsonValue {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (target instanceof Array) {
    return target.map((item, index) => (String(index) === key ? replaced(item, rest, value) : item));
  }
  return isJsonObject(target) ? { ...target, [key]: replaced(target[key], rest, value) } : value;
}
