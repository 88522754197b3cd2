import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseAbiItem, toFunctionSelector, type AbiParameter } from 'viem';
import { parseFunction } from '../../src/adapters/tools/evm/abi/signatures.js';
import { ChainError } from '../../src/adapters/tools/evm/chain-error.js';

/** The parsed function, or undefined for one that was refused in words. Anything else that is thrown fails the test. */
function parsed(signature: string) {
  try {
    return parseFunction(signature);
  } catch (error) {
    if (!(error instanceof ChainError)) throw error;
    expect(error.message).toMatch(/^The function .{1,70} (cannot be read|has |is longer)/s);
    return undefined;
  }
}

/** What an encoder or a decoder could have to work on for a signature, whatever the arguments are. */
function extent(parameters: readonly AbiParameter[], repeats = 1, depth = 0) {
  let most = { parameters: 0, values: 0, depth };
  for (const parameter of parameters) {
    const lengths = [...parameter.type.matchAll(/\[(\d*)\]/g)].map(([, length = '']) => length);
    expect(lengths.length).toBeLessThanOrEqual(4);
    const inner = lengths.reduce((product, length) => product * Math.max(1, Number(length)), repeats);
    const components = 'components' in parameter ? parameter.components : [];
    const below = extent(components, inner, depth + 1);
    most = {
      parameters: most.parameters + 1 + below.parameters,
      values: Math.max(most.values, inner, below.values),
      depth: Math.max(most.depth, components.length > 0 ? below.depth : depth),
    };
  }
  return most;
}

const length = fc.oneof(
  fc.constantFrom('', '0', '1', '2', '00', '007', '4096', '4097', '65536', '4294967295', '4294967296'),
  fc.bigInt({ min: 0n, max: 2n ** 300n }).map(String),
  fc.constantFrom('-1', '1e9', '0x10', '１', ' 3 '),
);
const dimensions = fc.array(length, { maxLength: 6 }).map((lengths) => lengths.map((n) => `[${n}]`).join(''));
const plainType = fc.constantFrom(
  ...['uint256', 'uint', 'int8', 'address', 'bool', 'string', 'bytes', 'bytes32', 'address payable'],
  ...[
    'uint7',
    'uint264',
    'int0',
    'bytes0',
    'bytes33',
    'uint08',
    'function',
    'tuple',
    'mapping',
    '__proto__',
    '',
  ],
);
const name = fc.constantFrom('', ' a', ' calldata a', ' memory', '\ta', ' __proto__', ' a b', ' 1');
const { type } = fc.letrec<{ type: string }>((tie) => ({
  type: fc.oneof(
    { maxDepth: 12 },
    plainType,
    fc.tuple(plainType, dimensions, name).map((parts) => parts.join('')),
    fc
      .tuple(fc.array(tie('type'), { maxLength: 4 }), dimensions, name)
      .map(([inner, suffix, named]) => `(${inner.join(',')})${suffix}${named}`),
  ),
}));
const nested = fc
  .tuple(
    fc.integer({ min: 1, max: 480 }),
    fc.constantFrom('uint8', 'uint8[2]', ''),
    fc.constantFrom('', '[]', '[9]'),
  )
  .map(([depth, inner, suffix]) => '('.repeat(depth) + inner + `)${suffix}`.repeat(depth));
const types = fc.oneof(type, nested, fc.array(type, { maxLength: 200 }).map(String));
const oddSignature = fc
  .tuple(
    fc.constantFrom('', 'function ', 'function', 'event ', ' ', 'function  '),
    fc.constantFrom('f', '$', '_a1', '__proto__', 'function', ''),
    types,
    fc.constantFrom('', ' view', ' external view', ' public pure ', 'view', ' returns', ' virtual'),
    fc.option(types, { nil: null }),
    fc.constantFrom('', ';', ';;', ')', '('),
  )
  .map(
    ([word, named, inputs, modifiers, outputs, end]) =>
      `${word}${named}(${inputs})${modifiers}${outputs === null ? '' : ` returns (${outputs})`}${end}`,
  );
/** Right in form, so that only the bounds can refuse it. */
const { tuple: wellFormed } = fc.letrec<{ tuple: string }>((tie) => ({
  tuple: fc
    .array(
      fc.tuple(
        fc.oneof(
          { maxDepth: 10, withCrossShrink: true },
          fc.constantFrom('uint8', 'bytes', 'address'),
          tie('tuple'),
        ),
        fc.array(fc.constantFrom('', '0', '3', '64', '4096', '4294967295'), { maxLength: 3 }),
      ),
      { maxLength: 3 },
    )
    .map(
      (items) => `(${items.map(([item, sizes]) => item + sizes.map((n) => `[${n}]`).join('')).join(',')})`,
    ),
}));
const signature = fc.oneof(
  oddSignature,
  wellFormed.map((inputs) => `f${inputs}`),
  wellFormed.map((outputs) => `f() view returns ${outputs}`),
);

describe('parseFunction', () => {
  it.each([
    ['balanceOf(address)', 'function balanceOf(address)'],
    ['function balanceOf(address owner) view returns (uint256);', undefined],
    ['f(uint a, int b, uint8[2][] c) external pure returns (bytes32, string memory)', undefined],
    ['f((address owner, uint256 amount)[] calldata pairs, int8 sign) payable', undefined],
    ['f(((uint8[2] a)[3] b, string)[] c) returns ((bool ok, bytes data)[] results)', undefined],
    ['f(uint256[0] a)', undefined],
    ['f()', undefined],
  ])('reads %s as the client library does', (signature, spelled = signature) => {
    const item = parseFunction(signature);
    const wanted = parseAbiItem([
      spelled.startsWith('function ') ? spelled.replace(/;$/, '') : `function ${spelled}`,
    ]);
    expect(item).toEqual(wanted);
  });

  it('takes an address that is payable, and any white space', () => {
    const item = parseFunction(' function\tf ( address   payable to ,uint\n[ 2 ] x )view  returns(bool) ');
    expect(item.inputs).toEqual([
      { type: 'address', name: 'to' },
      { type: 'uint256[2]', name: 'x' },
    ]);
    expect(item).toMatchObject({ stateMutability: 'view', outputs: [{ type: 'bool' }] });
    expect(toFunctionSelector(item)).toBe(toFunctionSelector('f(address,uint256[2])'));
  });

  it.each([
    ['f(uint256[4294967295])', 'has fixed-size arrays of more than 4096 values'],
    ['f(uint8[64][65])', 'has fixed-size arrays of more than 4096 values'],
    ['f((uint8[64] a)[65])', 'has fixed-size arrays of more than 4096 values'],
    ['f(uint8[0][4294967295])', 'has fixed-size arrays of more than 4096 values'],
    ['f(uint8[99999999999999999999999999999999999999999])', 'has fixed-size arrays of more than 4096 values'],
    ['f(uint8[][][][][])', 'has an array of more than 4 dimensions'],
    [`f(${'('.repeat(9)}bool${')'.repeat(9)})`, 'has tuples nested deeper than 8 levels'],
    [`f(${'bool,'.repeat(128)}bool)`, 'has more than 128 parameters'],
    [`f(${' '.repeat(1000)})`, 'is longer than 1000 characters'],
    ['f(uint256[-1])', 'cannot be read'],
    ['f(uint7)', 'cannot be read'],
    ['f(bytes33)', 'cannot be read'],
    ['f(function)', 'cannot be read'],
    ['f(uint8', 'cannot be read'],
    ['f(uint8) indexed', 'cannot be read'],
    ['f(uint8) returns', 'cannot be read'],
    ['event f(uint8)', 'cannot be read'],
    ['f(u\u0131nt8)', 'cannot be read'],
  ])('refuses %s', (signature, words) => {
    expect(() => parseFunction(signature)).toThrow(words);
  });

  it('returns bounded functions or refuses in words, whatever the text', () => {
    let [taken, refused] = [0, 0];
    fc.assert(
      fc.property(fc.oneof({ weight: 9, arbitrary: signature }, fc.string({ maxLength: 1_100 })), (text) => {
        const item = parsed(text);
        if (item === undefined) {
          refused++;
          return;
        }
        taken++;
        const most = extent([...item.inputs, ...item.outputs]);
        expect(most.parameters).toBeLessThanOrEqual(128);
        expect(most.values).toBeLessThanOrEqual(4_096);
        expect(most.depth).toBeLessThanOrEqual(8);
      }),
      { numRuns: 3_000 },
    );
    // The generator reaches both sides.
    expect(taken).toBeGreaterThan(100);
    expect(refused).toBeGreaterThan(100);
  });
});
