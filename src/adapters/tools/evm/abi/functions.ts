import { encodeFunctionData, type AbiFunction, type AbiParameter, type Hex } from 'viem';
import { isJsonObject, type JsonValue } from '../../../../core/model/json.js';
import { isLiteralAddress, literalAddress, namedAccount } from '../lookups/addresses.js';
import { ChainError } from '../chain-error.js';
import type { ChainScope } from '../scope.js';
import { shown } from '../words.js';
import { fitsInteger, integerOf } from './integers.js';

/** Maximum number of values in one call, including lists and tuples. */
const MAX_VALUES = 2_048;
/** The number of values that an address counts as, because its checksum needs a hash. */
const ADDRESS_VALUES = 4;
/** Maximum number of names in one call: each needs a request to a node. */
const MAX_NAMES = 16;
const ARRAY = /^(?<inner>.*)\[(?<length>\d*)\]$/;
const INTEGER = /^(?<unsigned>u?)int(?<bits>\d*)$/;
const BYTES = /^bytes(?<size>\d*)$/;

/**
 * Encodes a call. Arguments may give addresses by name.
 * @throws ChainError when the arguments do not match the function, or exceed 2,048 values (an address counts as 4) or
 * 16 names
 */
export async function encodeCall(
  scope: ChainScope,
  item: AbiFunction,
  given: JsonValue | undefined,
): Promise<Hex> {
  const args = await new Arguments(scope).list(item.inputs, given ?? [], 'args');
  return encodeFunctionData({
    abi: [{ ...item, inputs: withoutNames(item.inputs) }],
    functionName: item.name,
    args,
  });
}

/** Removes the names of tuple components, so that the encoder reads tuples as lists and never uses a name as a key. */
function withoutNames(parameters: readonly AbiParameter[]): readonly AbiParameter[] {
  return parameters.map((parameter) =>
    'components' in parameter
      ? { type: parameter.type, components: withoutNames(parameter.components) }
      : { type: parameter.type },
  );
}

/**
 * Converts the arguments of one call to the encoder's input. Checks lengths before it allocates.
 */
class Arguments {
  #values = 0;
  readonly #addresses = new Map<string, string>();

  constructor(private readonly scope: ChainScope) {}

  async list(parameters: readonly AbiParameter[], given: JsonValue, path: string): Promise<unknown[]> {
    const values = itemsOf(given, parameters.length, path);
    const made: unknown[] = [];
    for (const [index, parameter] of parameters.entries()) {
      made.push(await this.#value(parameter, values[index] ?? null, `${path}[${String(index)}]`));
    }
    return made;
  }

  async #value(parameter: AbiParameter, given: JsonValue, path: string): Promise<unknown> {
    this.#count(1);
    const { type } = parameter;
    const array = ARRAY.exec(type)?.groups;
    if (array !== undefined) {
      return this.#array({ ...parameter, type: array.inner ?? '' }, array.length ?? '', given, path);
    }
    if (type === 'tuple' && 'components' in parameter) return this.#tuple(parameter.components, given, path);
    if (type === 'address') return this.#address(given);
    return plainValue(type, given, path);
  }

  /** @param length '' for an array of any length */
  async #array(item: AbiParameter, length: string, given: JsonValue, path: string): Promise<unknown[]> {
    const items = itemsOf(given, length === '' ? null : Number(length), path);
    const made: unknown[] = [];
    for (const [index, value] of items.entries()) {
      made.push(await this.#value(item, value, `${path}[${String(index)}]`));
    }
    return made;
  }

  /** Reads a tuple from a list, or from an object keyed by the names of its components. */
  #tuple(components: readonly AbiParameter[], given: JsonValue, path: string): Promise<unknown[]> {
    const values = isJsonObject(given)
      ? components.map(({ name = '' }) => (Object.hasOwn(given, name) ? (given[name] ?? null) : null))
      : given;
    return this.list(components, values, path);
  }

  async #address(given: JsonValue): Promise<string> {
    const text = typeof given === 'string' ? given.trim() : '';
    this.#count(ADDRESS_VALUES - 1);
    if (isLiteralAddress(text)) return literalAddress(text);
    const known = this.#addresses.get(text);
    if (known !== undefined) return known;
    if (this.#addresses.size >= MAX_NAMES)
      throw new ChainError(`args: must not have more than ${String(MAX_NAMES)} names. Give addresses.`);
    const { address } = await namedAccount(this.scope, given);
    this.#addresses.set(text, address);
    return address;
  }

  #count(values: number): void {
    this.#values += values;
    if (this.#values > MAX_VALUES)
      throw new ChainError(
        `args: must not have more than ${String(MAX_VALUES)} values, where an address counts as ${String(ADDRESS_VALUES)}.`,
      );
  }
}

/** @param length the required number of items; null: any */
function itemsOf(given: JsonValue, length: number | null, path: string): readonly JsonValue[] {
  if (given instanceof Array && (length === null || given.length === length)) return given;
  const wanted = length === null ? 'a list' : `a list of ${String(length)} values`;
  throw new ChainError(`${path}: must be ${wanted}, not ${shown(given)}.`);
}

function plainValue(type: string, given: JsonValue, path: string): unknown {
  if (type === 'string' && typeof given === 'string') return given;
  if (type === 'bool' && (given === true || given === 'true')) return true;
  if (type === 'bool' && (given === false || given === 'false')) return false;
  const integer = INTEGER.exec(type)?.groups;
  if (integer !== undefined) {
    const value = integerOf(given);
    const fits = value !== undefined && fitsInteger(value, Number(integer.bits), integer.unsigned === 'u');
    if (fits) return value;
  }
  const size = BYTES.exec(type)?.groups?.size;
  if (size !== undefined && typeof given === 'string' && /^0x(?:[0-9a-f]{2})*$/i.test(given)) {
    if (size === '' || given.length === 2 + 2 * Number(size)) return given;
  }
  throw new ChainError(`${path}: must be ${kindOf(type)}, not ${shown(given)}.`);
}

function kindOf(type: string): string {
  if (INTEGER.test(type)) return `an integer that fits ${type}, as a decimal string when it is large`;
  if (BYTES.test(type)) return `${type} in hex, such as 0x00ff`;
  if (type === 'bool') return 'true or false';
  return type === 'string' ? 'text' : `a ${type}`;
}
