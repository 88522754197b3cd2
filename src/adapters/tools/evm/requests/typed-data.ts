import { isDeeperThan, isJsonObject, type JsonObject, type JsonValue } from '../../../../core/model/json.js';
import { fitsInteger, integerOf } from '../abi/integers.js';
import { ChainError } from '../chain-error.js';
import { shown, tamed } from '../words.js';
import { readStructs, type Field, type FieldType, type Structs } from './typed-data-types.js';

/** Of the typed data as JSON. */
const MAX_BYTES = 65_536;
const MAX_DEPTH = 16;
const MAX_PATH = 200;
const KEYS = ['types', 'primaryType', 'domain', 'message'] as const;
const DOMAIN_TYPE = 'EIP712Domain';
/** The fields of a domain by EIP-712, in their order. */
const DOMAIN_FIELDS = [
  'string name',
  'string version',
  'uint256 chainId',
  'address verifyingContract',
  'bytes32 salt',
];

/** Typed data (EIP-712) whose values all fit their types. */
export interface TypedData {
  readonly structs: Structs;
  readonly primaryType: string;
  readonly domain: JsonObject;
  readonly message: JsonObject;
}

/**
 * Checks typed data (EIP-712) strictly, so that every wallet encodes it in the same way: all types are declared, every
 * struct has its fields and no others, and the domain has those of EIP-712. Bounded: 64 KiB of JSON, 16 levels, 200
 * types, 200 fields. The checksums of addresses (ERC-55) are not verified.
 * @throws ChainError in words for the assistant
 */
export function readTypedData(given: JsonObject): TypedData {
  if (isDeeperThan(given, MAX_DEPTH)) {
    throw new ChainError(`The typed data must not be nested deeper than ${String(MAX_DEPTH)} levels.`);
  }
  if (Buffer.byteLength(JSON.stringify(given)) > MAX_BYTES) {
    throw new ChainError(`The typed data must not be larger than ${String(MAX_BYTES)} bytes of JSON.`);
  }
  const stranger = Object.keys(given).find((key) => !KEYS.some((known) => known === key));
  if (stranger !== undefined) {
    throw new ChainError(
      `The typed data must have the keys ${KEYS.join(', ')} and no others such as ${shown(stranger)}.`,
    );
  }
  const structs = readStructs(given.types);
  const { primaryType, domain, message } = given;
  const domainFields = structs.get(DOMAIN_TYPE);
  if (domainFields === undefined) {
    throw new ChainError(`types.${DOMAIN_TYPE}: must list the fields of the domain, as EIP-712 requires.`);
  }
  checkDomainType(domainFields);
  if (typeof primaryType !== 'string' || primaryType === DOMAIN_TYPE || !structs.has(primaryType)) {
    throw new ChainError(
      `primaryType: must be one of the types, and not ${DOMAIN_TYPE}; ${shown(primaryType)} is not.`,
    );
  }
  checkStruct(structs, DOMAIN_TYPE, domain, 'domain');
  checkStruct(structs, primaryType, message, 'message');
  return { structs, primaryType, domain: objectOf(domain), message: objectOf(message) };
}

/**
 * Checks typed data, and that its domain is not one of another chain than `chainId`.
 * @throws ChainError in words for the assistant
 */
export function checkTypedData(chainId: number, given: JsonObject): void {
  const { domain } = readTypedData(given);
  if (!Object.hasOwn(domain, 'chainId')) return;
  const named = integerOf(domain.chainId ?? null);
  if (named === BigInt(chainId)) return;
  throw new ChainError(
    `domain.chainId: must be ${String(chainId)}, the chain of the request, not ${shown(domain.chainId)}.`,
  );
}

/** Some wallets make the type of the domain from its values, and would sign something else. */
function checkDomainType(fields: readonly Field[]): void {
  const given = fields.map(({ text, name }) => `${text} ${name}`);
  const right = DOMAIN_FIELDS.filter((field) => given.includes(field));
  if (given.join() === right.join()) return;
  throw new ChainError(
    `types.${DOMAIN_TYPE}: must have fields of EIP-712 alone, in this order: ${DOMAIN_FIELDS.join(', ')}.`,
  );
}

/** The recursion is bounded by the depth of the JSON and by the dimensions of array types. */
function checkStruct(structs: Structs, name: string, value: JsonValue | undefined, path: string): void {
  const fields = structs.get(name) ?? [];
  if (!isJsonObject(value)) throw wrong(path, `must be an object of the type ${name}`, value);
  for (const { name: field, type } of fields) {
    const inner = Object.hasOwn(value, field) ? value[field] : undefined;
    checkValue(structs, type, inner, `${path}.${field}`);
  }
  const known = new Set(fields.map((field) => field.name));
  const stranger = Object.keys(value).find((key) => !known.has(key));
  if (stranger === undefined) return;
  throw new ChainError(
    `${tamed(path, MAX_PATH)}: has the field ${shown(stranger)}, which the type ${name} does not have: it would not be signed.`,
  );
}

function checkValue(structs: Structs, type: FieldType, value: JsonValue | undefined, path: string): void {
  switch (type.kind) {
    case 'struct':
      checkStruct(structs, type.name, value, path);
      return;
    case 'array':
      if (!isList(value)) throw wrong(path, 'must be a list', value);
      if (type.length !== null && value.length !== type.length) {
        throw wrong(path, `must be a list of ${String(type.length)} values`, value);
      }
      value.forEach((item, index) => {
        checkValue(structs, type.item, item, `${path}[${String(index)}]`);
      });
      return;
    case 'address':
      if (!isText(value, /^0x[0-9a-f]{40}$/i)) {
        throw wrong(path, 'must be an address: 0x and 40 hex digits', value);
      }
      return;
    case 'bool':
      if (typeof value !== 'boolean') throw wrong(path, 'must be true or false', value);
      return;
    case 'string':
      if (typeof value !== 'string') throw wrong(path, 'must be text', value);
      return;
    case 'bytes':
      if (!isText(value, /^0x(?:[0-9a-f]{2})*$/i) || !fitsSize(value, type.size)) {
        const name = type.size === null ? 'bytes' : `bytes${String(type.size)}`;
        throw wrong(path, `must be ${name} in hex, such as 0x00ff`, value);
      }
      return;
    case 'integer': {
      const { bits, isUnsigned } = type;
      // Wallets differ in what they make of blanks.
      const isPlain = typeof value !== 'string' || /^\S+$/.test(value);
      const integer = value === undefined || !isPlain ? undefined : integerOf(value);
      if (integer === undefined || !fitsInteger(integer, bits, isUnsigned)) {
        const name = `${isUnsigned ? 'u' : ''}int${String(bits)}`;
        throw wrong(
          path,
          `must be an integer that fits ${name}, as a decimal string when it is large`,
          value,
        );
      }
    }
  }
}

function fitsSize(hex: string, size: number | null): boolean {
  return size === null || hex.length === 2 + 2 * size;
}

function isText(value: JsonValue | undefined, pattern: RegExp): value is string {
  return typeof value === 'string' && pattern.test(value);
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function wrong(path: string, right: string, value: JsonValue | undefined): ChainError {
  const found = value === undefined ? 'it is missing' : `not ${shown(value)}`;
  return new ChainError(`${tamed(path, MAX_PATH)}: ${right}; ${found}.`);
}
