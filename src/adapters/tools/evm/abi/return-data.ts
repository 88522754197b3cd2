import { checksumAddress, type AbiParameter, type Hex } from 'viem';
import type { JsonValue } from '../../../../core/model/json.js';

const WORD = 32;
/** Maximum number of steps of one decoding: one per value, list or tuple. */
const MAX_STEPS = 16_384;
/** The number of steps that an address counts as, because its checksum (ERC-55) needs a hash. */
const ADDRESS_STEPS = 16;
/** Maximum total size of the decoded `bytes` and `string` values, in bytes. */
const MAX_BYTES = 128 * 1024;
/** Integer types with more bits are decoded to decimal strings. */
const MAX_NUMBER_BITS = 48;

/** The data does not match its types, or its values exceed the budget. */
export class ReturnDataError extends Error {
  override readonly name = 'ReturnDataError';

  constructor(
    message: string,
    /** True when the values exceed the budget. */
    readonly isTooLarge = false,
  ) {
    super(message);
  }
}

/**
 * Bounds the work of one decoding. Offsets in the data may all point at the same bytes, so the size of the data
 * bounds neither the number nor the size of the values in it.
 */
export class DecodingBudget {
  #steps = 0;
  #bytes = 0;

  get steps(): number {
    return this.#steps;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** @throws ReturnDataError when the steps are exhausted */
  step(count = 1): void {
    this.#steps += count;
    if (this.#steps > MAX_STEPS) throw new ReturnDataError('The data contains too many values', true);
  }

  /** @throws ReturnDataError when the bytes are exhausted */
  take(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > MAX_BYTES) throw new ReturnDataError('The values in the data are too large', true);
  }
}

/**
 * Decodes ABI-encoded data to JSON: integer types of more than 48 bits as decimal strings, bytes as hex, addresses with
 * checksum, a tuple whose components all have distinct names as an object, any other tuple as a list.
 * @throws ReturnDataError before it allocates more than the budget allows
 */
export function decodeData(
  parameters: readonly AbiParameter[],
  data: Hex,
  budget = new DecodingBudget(),
): readonly JsonValue[] {
  const bytes = Buffer.from(data.slice(2), 'hex');
  return new Decoder(bytes, budget).sequence(parameters.map(compile), 0);
}

/** A type with precomputed properties for the decoder. */
type Compiled = { readonly isDynamic: boolean; /** In bytes. */ readonly headSize: number } & (
  | { readonly kind: 'word'; readonly steps: number; readonly read: (word: Buffer) => JsonValue }
  | { readonly kind: 'bytes' | 'string' }
  | { readonly kind: 'array'; readonly item: Compiled; readonly length: number | null }
  | { readonly kind: 'tuple'; readonly items: readonly Compiled[]; readonly names: readonly string[] | null }
);

function compile(parameter: AbiParameter): Compiled {
  const { type } = parameter;
  const array = /^(.*)\[(\d*)\]$/.exec(type);
  if (array !== null) {
    const item = compile({ ...parameter, type: array[1] ?? '' });
    const length = array[2] === '' ? null : Number(array[2]);
    const isDynamic = length === null || item.isDynamic;
    return { kind: 'array', item, length, isDynamic, headSize: isDynamic ? WORD : item.headSize * length };
  }
  if (type === 'tuple' && 'components' in parameter) {
    const items = parameter.components.map(compile);
    const isDynamic = items.some((item) => item.isDynamic);
    const headSize = isDynamic ? WORD : items.reduce((sum, item) => sum + item.headSize, 0);
    return { kind: 'tuple', items, names: ownNames(parameter.components), isDynamic, headSize };
  }
  if (type === 'bytes' || type === 'string') return { kind: type, isDynamic: true, headSize: WORD };
  const word = { kind: 'word', isDynamic: false, headSize: WORD } as const;
  if (type === 'address') return { ...word, steps: ADDRESS_STEPS, read: addressOf };
  return { ...word, steps: 1, read: readerOf(type) };
}

/** The names of parameters; null when a name is missing or not unique. */
export function ownNames(parameters: readonly AbiParameter[]): readonly string[] | null {
  const names = parameters.map(({ name = '' }) => name);
  return names.includes('') || new Set(names).size < names.length ? null : names;
}

class Decoder {
  constructor(
    private readonly bytes: Buffer,
    private readonly budget: DecodingBudget,
  ) {}

  /** Decodes values whose heads are contiguous from `base`. Their offsets are relative to `base`. */
  sequence(types: readonly Compiled[], base: number): JsonValue[] {
    let at = base;
    return types.map((type) => {
      const value = this.#value(type, base, at);
      at += type.headSize;
      return value;
    });
  }

  #value(type: Compiled, base: number, at: number): JsonValue {
    this.budget.step(type.kind === 'word' ? type.steps : 1);
    const start = type.isDynamic ? base + this.#integer(at) : at;
    switch (type.kind) {
      case 'word':
        return type.read(this.#slice(start, WORD));
      case 'bytes':
        return `0x${this.#content(start).toString('hex')}`;
      case 'string':
        return this.#content(start).toString();
      case 'tuple': {
        const { names } = type;
        const values = this.sequence(type.items, start);
        return names === null
          ? values
          : Object.fromEntries(names.map((name, index) => [name, values[index] ?? null]));
      }
      case 'array':
        return type.length === null
          ? this.#items(type.item, start + WORD, this.#integer(start))
          : this.#items(type.item, start, type.length);
    }
  }

  #items(type: Compiled, base: number, length: number): JsonValue[] {
    const values: JsonValue[] = [];
    for (let index = 0; index < length; index++) {
      values.push(this.#value(type, base, base + index * type.headSize));
    }
    return values;
  }

  #content(at: number): Buffer {
    const length = this.#integer(at);
    this.budget.take(length);
    return this.#slice(at + WORD, length);
  }

  /** Reads an offset or a length. @throws ReturnDataError when it exceeds 32 bits */
  #integer(at: number): number {
    const word = this.#slice(at, WORD);
    if (word.subarray(0, WORD - 4).some((byte) => byte !== 0)) throw outOfBounds();
    return word.readUInt32BE(WORD - 4);
  }

  #slice(at: number, length: number): Buffer {
    if (at + length > this.bytes.length) throw outOfBounds();
    return this.bytes.subarray(at, at + length);
  }
}

function addressOf(word: Buffer): JsonValue {
  return checksumAddress(`0x${word.toString('hex', WORD - 20)}`);
}

function readerOf(type: string): (word: Buffer) => JsonValue {
  if (type === 'bool') return boolOf;
  const { size } = /^bytes(?<size>\d+)$/.exec(type)?.groups ?? {};
  if (size !== undefined) return (word) => `0x${word.toString('hex', 0, Number(size))}`;
  const { unsigned, bits } = /^(?<unsigned>u?)int(?<bits>\d+)$/.exec(type)?.groups ?? {};
  if (bits === undefined) throw new ReturnDataError(`The type ${type} cannot be decoded`);
  return (word) => integerOf(word, Number(bits), unsigned === 'u');
}

function boolOf(word: Buffer): JsonValue {
  const value = integerOf(word, 8, true);
  if (value !== 0 && value !== 1) throw new ReturnDataError('A boolean is neither 0 nor 1');
  return value === 1;
}

function integerOf(word: Buffer, bits: number, isUnsigned: boolean): JsonValue {
  const raw = BigInt(`0x${word.toString('hex')}`);
  const value = isUnsigned ? raw : BigInt.asIntN(8 * WORD, raw);
  const fitting = isUnsigned ? BigInt.asUintN(bits, value) : BigInt.asIntN(bits, value);
  if (value !== fitting) throw new ReturnDataError(`An integer does not fit ${String(bits)} bits`);
  return bits > MAX_NUMBER_BITS ? String(value) : Number(value);
}

function outOfBounds(): ReturnDataError {
  return new ReturnDataError('The data points beyond its end');
}
