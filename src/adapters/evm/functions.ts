import { encodeFunctionData, parseAbiItem, type AbiFunction, type AbiParameter, type Hex } from 'viem';
import { isJsonObject, type JsonValue } from '../../core/json.js';
import { namedAccount } from './addresses.js';
import { ChainError } from './chain-error.js';
import type { Scope } from './scope.js';
import { shown } from './words.js';

const MAX_SIGNATURE = 1_000;
const ARRAY = /^(?<inner>.*)\[(?<length>\d*)\]$/;
const INTEGER = /^(?<unsigned>u?)int(?<bits>\d*)$/;
const BYTES = /^bytes(?<size>\d*)$/;

/** Reads a signature such as `function balanceOf(address) view returns (uint256)`; `function` may be left out. @throws ChainError */
export function parseFunction(signature: JsonValue | undefined): AbiFunction {
  const text = typeof signature === 'string' ? signature.trim().replace(/;$/, '') : '';
  try {
    if (text === '' || text.length > MAX_SIGNATURE) throw new RangeError('too short or too long');
    const item = parseAbiItem(/^function\s/.test(text) ? text : `function ${text}`);
    if (item.type !== 'function') throw new TypeError('not a function');
    return item;
  } catch (error) {
    throw new ChainError(
      `The function ${shown(signature)} cannot be read. Write it like "function balanceOf(address owner) view returns (uint256)".`,
      { cause: error },
    );
  }
}

/** Encodes a call; addresses may be given by name. @throws ChainError when the arguments do not fit */
export async function encodeCall(
  scope: Scope,
  item: AbiFunction,
  given: JsonValue | undefined,
): Promise<Hex> {
  const args = await listOf(scope, item.inputs, given ?? [], 'args');
  return encodeFunctionData({ abi: [item], functionName: item.name, args });
}

async function listOf(
  scope: Scope,
  parameters: readonly AbiParameter[],
  given: JsonValue,
  path: string,
): Promise<unknown[]> {
  if (!(given instanceof Array) || given.length !== parameters.length) {
    throw new ChainError(
      `${path}: must be a list of ${String(parameters.length)} values, not ${shown(given)}.`,
    );
  }
  return inOrder(parameters, (parameter, index) =>
    valueOf(scope, parameter, given[index] ?? null, `${path}[${String(index)}]`),
  );
}

async function valueOf(
  scope: Scope,
  parameter: AbiParameter,
  given: JsonValue,
  path: string,
): Promise<unknown> {
  const { type } = parameter;
  const array = ARRAY.exec(type)?.groups;
  if (array !== undefined) {
    const items = given instanceof Array ? given : [];
    const length = array.length === '' ? items.length : Number(array.length);
    const item = { ...parameter, type: array.inner ?? '' };
    return listOf(
      scope,
      Array.from({ length }, () => item),
      given,
      path,
    );
  }
  if (type === 'tuple' && 'components' in parameter) return tupleOf(scope, parameter.components, given, path);
  if (type === 'address') return (await namedAccount(scope, given)).address;
  if (type === 'string' && typeof given === 'string') return given;
  if (type === 'bool' && (given === true || given === 'true')) return true;
  if (type === 'bool' && (given === false || given === 'false')) return false;
  const integer = INTEGER.exec(type)?.groups;
  if (integer !== undefined) {
    const value = integerOf(given);
    const bits = Number(integer.bits === '' ? 256 : integer.bits);
    const wrapped = value === undefined ? undefined : wrap(value, bits, integer.unsigned === 'u');
    if (value !== undefined && value === wrapped) return value;
  }
  const size = BYTES.exec(type)?.groups?.size;
  if (size !== undefined && typeof given === 'string' && /^0x(?:[0-9a-f]{2})*$/i.test(given)) {
    if (size === '' || given.length === 2 + 2 * Number(size)) return given;
  }
  throw new ChainError(`${path}: must be ${kindOf(type)}, not ${shown(given)}.`);
}

/** A tuple from a list, or from an object with the names of its components. */
function tupleOf(
  scope: Scope,
  components: readonly AbiParameter[],
  given: JsonValue,
  path: string,
): Promise<unknown> {
  const hasNames = components.every(({ name }) => name !== undefined && name !== '');
  const values = isJsonObject(given) ? components.map(({ name = '' }) => given[name] ?? null) : given;
  const list = listOf(scope, components, values, path);
  if (!hasNames) return list;
  return list.then((items) =>
    Object.fromEntries(components.map(({ name = '' }, index) => [name, items[index]])),
  );
}

function integerOf(given: JsonValue): bigint | undefined {
  if (typeof given === 'number') return Number.isSafeInteger(given) ? BigInt(given) : undefined;
  if (typeof given !== 'string' || given.length > 100) return undefined;
  const text = given.trim();
  if (/^-\d+$/.test(text)) return -BigInt(text.slice(1));
  return /^(?:\d+|0x[0-9a-f]+)$/i.test(text) ? BigInt(text) : undefined;
}

function wrap(value: bigint, bits: number, isUnsigned: boolean): bigint {
  return isUnsigned ? BigInt.asUintN(bits, value) : BigInt.asIntN(bits, value);
}

function kindOf(type: string): string {
  if (INTEGER.test(type)) return `an integer that fits ${type}, as a decimal string when it is large`;
  if (BYTES.test(type)) return `${type} in hex, such as 0x00ff`;
  if (type === 'bool') return 'true or false';
  return type === 'string' ? 'text' : `a ${type}`;
}

/** One after the other: each value may be a name to resolve, and a list may be long. */
async function inOrder<T>(
  items: readonly T[],
  make: (item: T, index: number) => Promise<unknown>,
): Promise<unknown[]> {
  const made: unknown[] = [];
  for (const [index, item] of items.entries()) made.push(await make(item, index));
  return made;
}
