import { keccak256, type Hex } from 'viem';
import { isJsonObject, type JsonValue } from '../../../../core/model/json.js';
import { integerOf } from '../abi/integers.js';
import type { TypedData } from './typed-data.js';
import type { FieldType, Structs } from './typed-data-types.js';

const WORD = 32;
const DOMAIN_TYPE = 'EIP712Domain';

/**
 * The hash that a wallet signs for typed data (EIP-712). Linear in the size of the data: the hash of a type is computed
 * once, however many values it has.
 */
export function hashTypedData({ structs, primaryType, domain, message }: TypedData): Hex {
  const hasher = new Hasher(structs);
  const parts = [hasher.struct(DOMAIN_TYPE, domain), hasher.struct(primaryType, message)];
  return keccak256(Buffer.concat([Buffer.from('1901', 'hex'), ...parts]));
}

class Hasher {
  readonly #typeHashes = new Map<string, Uint8Array>();

  constructor(private readonly structs: Structs) {}

  struct(name: string, value: JsonValue): Uint8Array {
    const values = isJsonObject(value) ? value : {};
    const fields = this.structs.get(name) ?? [];
    const words = fields.map((field) => this.#word(field.type, values[field.name] ?? null));
    return keccak256(Buffer.concat([this.#typeHash(name), ...words]), 'bytes');
  }

  #word(type: FieldType, value: JsonValue): Uint8Array {
    switch (type.kind) {
      case 'struct':
        return this.struct(type.name, value);
      case 'array': {
        const items: readonly JsonValue[] = value instanceof Array ? value : [];
        return keccak256(Buffer.concat(items.map((item) => this.#word(type.item, item))), 'bytes');
      }
      case 'string':
        return keccak256(Buffer.from(typeof value === 'string' ? value : ''), 'bytes');
      case 'bytes': {
        const bytes = bytesOf(value);
        return type.size === null ? keccak256(bytes, 'bytes') : Buffer.concat([bytes], WORD);
      }
      case 'address':
        return Buffer.concat([Buffer.alloc(WORD - 20), bytesOf(value)]);
      case 'bool':
        return integerWord(value === true ? 1n : 0n);
      case 'integer':
        return integerWord(integerOf(value) ?? 0n);
    }
  }

  #typeHash(name: string): Uint8Array {
    const known = this.#typeHashes.get(name);
    if (known !== undefined) return known;
    const hash = keccak256(Buffer.from(this.#encodedType(name)), 'bytes');
    this.#typeHashes.set(name, hash);
    return hash;
  }

  /** The type and, in the order of their names, those that it refers to. */
  #encodedType(name: string): string {
    const found = new Set([name]);
    for (const struct of found) {
      for (const { type } of this.structs.get(struct) ?? []) {
        const inner = innermost(type);
        if (inner.kind === 'struct') found.add(inner.name);
      }
    }
    found.delete(name);
    return [name, ...[...found].toSorted()].map((struct) => this.#encodedStruct(struct)).join('');
  }

  #encodedStruct(name: string): string {
    const fields = (this.structs.get(name) ?? []).map((field) => `${field.text} ${field.name}`);
    return `${name}(${fields.join(',')})`;
  }
}

function innermost(type: FieldType): FieldType {
  return type.kind === 'array' ? innermost(type.item) : type;
}

function bytesOf(value: JsonValue): Buffer {
  return Buffer.from(typeof value === 'string' ? value.slice(2) : '', 'hex');
}

/** In two's complement. */
function integerWord(value: bigint): Buffer {
  return Buffer.from(
    BigInt.asUintN(8 * WORD, value)
      .toString(16)
      .padStart(2 * WORD, '0'),
    'hex',
  );
}
