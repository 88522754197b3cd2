import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { encodeAbiParameters, parseAbiParameters, toHex, type AbiParameter, type Hex } from 'viem';
import { checkOffchainLookup } from '../../src/adapters/tools/evm/rpc/offchain-lookups.js';
import { decodeData, DecodingBudget, ReturnDataError } from '../../src/adapters/tools/evm/abi/return-data.js';
import { parseFunction } from '../../src/adapters/tools/evm/abi/signatures.js';
import { toJson } from '../../src/adapters/tools/evm/abi/values.js';

const word = (value: bigint | number): string =>
  BigInt.asUintN(256, BigInt(value)).toString(16).padStart(64, '0');
/** A list whose offsets all point at what follows it. */
const listOfOne = (count: number): string => word(count) + word(count * 32).repeat(count);
const outputsOf = (types: string) => parseFunction(`f() view returns (${types})`).outputs;

/** A type with a value that the client library encodes, and what JSON shows of it. */
interface Sample {
  readonly type: AbiParameter;
  readonly value: unknown;
}

const plain: fc.Arbitrary<Sample> = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map((value) => ({ type: { type: 'uint256' }, value })),
  fc
    .bigInt({ min: -(2n ** 255n), max: 2n ** 255n - 1n })
    .map((value) => ({ type: { type: 'int256' }, value })),
  fc.integer({ min: -128, max: 127 }).map((value) => ({ type: { type: 'int8' }, value })),
  fc.integer({ min: 0, max: 2 ** 48 - 1 }).map((value) => ({ type: { type: 'uint48' }, value })),
  fc.bigInt({ min: 0n, max: 2n ** 56n - 1n }).map((value) => ({ type: { type: 'uint56' }, value })),
  fc.boolean().map((value) => ({ type: { type: 'bool' }, value })),
  fc.string({ unit: 'grapheme', maxLength: 40 }).map((value) => ({ type: { type: 'string' }, value })),
  fc.uint8Array({ maxLength: 70 }).map((bytes) => ({ type: { type: 'bytes' }, value: toHex(bytes) })),
  fc
    .uint8Array({ minLength: 5, maxLength: 5 })
    .map((bytes) => ({ type: { type: 'bytes5' }, value: toHex(bytes) })),
  fc.constant({ type: { type: 'address' }, value: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' }),
);
const { sample } = fc.letrec<{ sample: Sample }>((tie) => ({
  sample: fc.oneof(
    { maxDepth: 5 },
    plain,
    fc.tuple(tie('sample'), fc.integer({ min: 0, max: 3 }), fc.boolean()).map(([item, count, isFixed]) => ({
      type: { ...item.type, type: `${item.type.type}[${isFixed ? String(count) : ''}]` },
      value: Array.from({ length: count }, () => item.value),
    })),
    fc
      .tuple(fc.array(tie('sample'), { minLength: 1, maxLength: 3 }), fc.boolean())
      .map(([items, isNamed]) => {
        const components = items.map(({ type }, index) => ({
          ...type,
          ...(isNamed && { name: `n${String(index)}` }),
        }));
        const values = items.map(({ value }) => value);
        const named = Object.fromEntries(values.map((value, index) => [`n${String(index)}`, value]));
        return { type: { type: 'tuple', components }, value: isNamed ? named : values };
      }),
  ),
}));

describe('decodeData', () => {
  it('decodes what the client library encodes', () => {
    fc.assert(
      fc.property(fc.array(sample, { minLength: 1, maxLength: 4 }), (samples) => {
        const types = samples.map(({ type }) => type);
        const values = samples.map(({ value }) => value);
        const data = encodeAbiParameters(types, values);
        expect(decodeData(types, data)).toEqual(values.map(toJson));
      }),
      { numRuns: 500 },
    );
  });

  it('makes a list of a tuple whose names repeat, and data of a component named __proto__', () => {
    const data: Hex = `0x${word(1)}${word(2)}`;
    expect(decodeData(outputsOf('(uint8 a, uint8 a)'), data)).toEqual([[1, 2]]);
    expect(JSON.stringify(decodeData(outputsOf('(uint8 __proto__, uint8 b)'), data))).toBe(
      '[{"__proto__":1,"b":2}]',
    );
  });

  it.each([
    ['an integer that does not fit', 'uint8', word(256)],
    ['a negative integer that does not fit', 'int8', word(-129)],
    ['a boolean that is neither', 'bool', word(2)],
    ['too few bytes', 'uint8, uint8', word(1)],
    ['no bytes', 'uint8', ''],
    ['an offset beyond the end', 'bytes', word(64)],
    ['an offset that no data has', 'bytes', word(2n ** 255n) + word(0)],
    ['a length beyond the end', 'bytes', word(32) + word(1)],
    ['a length that no data has', 'string', word(32) + word(2n ** 64n)],
  ])('refuses %s', (_what, types, data) => {
    expect(() => decodeData(outputsOf(types), `0x${data}`)).toThrow(ReturnDataError);
  });

  it.each([
    ['bytes[]', word(32) + word(500) + word(500 * 32).repeat(500) + word(100_000) + '00'.repeat(100_000)],
    ['string[]', word(32) + word(500) + word(500 * 32).repeat(500) + word(100_000) + '61'.repeat(100_000)],
    // Each of the offsets of the outer list points at the inner list, whose offsets all point at one value.
    [
      'bytes[][]',
      word(32) +
        word(300) +
        word(300 * 32).repeat(300) +
        word(300) +
        word(300 * 32).repeat(300) +
        word(1) +
        word(0),
    ],
    ['uint256[0][]', word(32) + word(0xffffffff)],
    ['(uint256[0] a)[4096][]', word(32) + word(0xffffffff)],
    ['uint256[4096][]', word(32) + word(0xffffffff) + word(1).repeat(4_096)],
    ['address[]', word(32) + word(4_000) + word(1).repeat(4_000)],
    ['bytes[][][][]', word(32) + listOfOne(100) + listOfOne(100) + listOfOne(100) + word(0)],
  ])('stops at its budget: %s', (types, data) => {
    const budget = new DecodingBudget();
    expect(() => decodeData(outputsOf(types), `0x${data}`, budget)).toThrow(ReturnDataError);
    expect(budget.steps).toBeLessThanOrEqual(16_384 + 16);
    expect(budget.bytes).toBeLessThanOrEqual(128 * 1024 + 100_000);
  });

  it('stays within its budget, whatever the data', () => {
    const types = fc.constantFrom(
      ...['bytes[]', 'string[][]', '(bytes a, string[] b)[]', 'uint256[0][][]', 'bytes[3][]', 'address[2][]'],
    );
    // Small offsets and lengths, so that they point into the data.
    const anyWord = fc.oneof(
      fc.integer({ min: 0, max: 12 }).map((n) => word(32 * n)),
      fc.constantFrom(word(1), word(2), word(0xffffffff), word(2n ** 256n - 1n)),
    );
    fc.assert(
      fc.property(types, fc.array(anyWord, { maxLength: 40 }), (type, words) => {
        const budget = new DecodingBudget();
        try {
          decodeData(outputsOf(type), `0x${words.join('')}`, budget);
        } catch (error) {
          expect(error).toBeInstanceOf(ReturnDataError);
        }
        expect(budget.steps).toBeLessThanOrEqual(16_384 + 16);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('checkOffchainLookup', () => {
  const LOOKUP = parseAbiParameters('address, string[], bytes, bytes4, bytes');
  const BATCH = parseAbiParameters('(address, string[], bytes)[]');
  const SENDER = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
  const BATCH_URL = 'x-batch-gateway:true';
  const lookup = (urls: readonly string[], data: Hex = '0x'): string =>
    `0x556f1830${encodeAbiParameters(LOOKUP, [SENDER, urls, data, '0x12345678', '0x']).slice(2)}`;
  const batch = (count: number, urls: readonly string[]): Hex =>
    `0xa780bab6${encodeAbiParameters(BATCH, [Array.from({ length: count }, () => [SENDER, urls, '0x01'] as const)]).slice(2)}`;

  it('takes a lookup and a batch of a few, and any other revert', () => {
    expect(checkOffchainLookup(lookup(['https://gateway.example/{sender}/{data}']))).toBe(true);
    expect(checkOffchainLookup(lookup([BATCH_URL], batch(16, ['https://gateway.example/'])))).toBe(true);
    expect(checkOffchainLookup('0x08c379a0')).toBe(true);
    expect(checkOffchainLookup('0x')).toBe(true);
  });

  it('refuses large batches, batches within batches, lists of one value, and what is no lookup', () => {
    expect(checkOffchainLookup(lookup([BATCH_URL], batch(17, ['https://gateway.example/'])))).toBe(false);
    expect(checkOffchainLookup(lookup([BATCH_URL], batch(2, [BATCH_URL])))).toBe(false);
    const urls = word(200) + word(200 * 32).repeat(200) + word(2_000) + '61'.repeat(2_016);
    const aliased = [word(1), word(160), word(160), word(0), word(160), urls].join('');
    expect(checkOffchainLookup(`0x556f1830${aliased}`)).toBe(false);
    expect(checkOffchainLookup('0x556F1830')).toBe(false);
  });
});
