import { isJsonObject, type JsonValue } from '../../../../core/model/json.js';
import { ChainError } from '../chain-error.js';
import { shown } from '../words.js';

const MAX_TYPES = 200;
/** Of all types together. */
const MAX_FIELDS = 200;
/** Of one array type. */
const MAX_DIMENSIONS = 4;
/** In characters. */
const MAX_NAME = 128;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** A struct with such a name could be taken for a type of Solidity. */
const ELEMENTARY = /^(?:address$|bool$|string$|function$|bytes|u?int)/;
const SIZED = /^(?<base>bytes|u?int)(?<size>[1-9]\d{0,2})$/;

/** A type of EIP-712. */
export type FieldType =
  | { readonly kind: 'address' | 'bool' | 'string' }
  | { readonly kind: 'integer'; readonly bits: number; readonly isUnsigned: boolean }
  /** `size` in bytes; null: any number of them. */
  | { readonly kind: 'bytes'; readonly size: number | null }
  | { readonly kind: 'struct'; readonly name: string }
  /** `length` null: any. */
  | { readonly kind: 'array'; readonly item: FieldType; readonly length: number | null };

/** A field of a struct. */
export interface Field {
  readonly name: string;
  readonly type: FieldType;
  /** The type as it is written, which is part of what is signed. */
  readonly text: string;
}

/** The fields of each struct, by its name. */
export type Structs = ReadonlyMap<string, readonly Field[]>;

/** Reads the `types` of typed data. @throws ChainError when they are malformed, not all declared, or too many */
export function readStructs(types: JsonValue | undefined): Structs {
  if (!isJsonObject(types))
    throw new ChainError(`types: must map names to lists of fields, not ${shown(types)}.`);
  const entries = Object.entries(types);
  if (entries.length > MAX_TYPES) throw new ChainError(`types: must not be more than ${String(MAX_TYPES)}.`);
  const declared = new Set(entries.map(([name]) => name));
  let count = 0;
  const structs = entries.map(([name, fields]): [string, readonly Field[]] => {
    if (!isName(name) || ELEMENTARY.test(name)) {
      throw new ChainError(
        `types: ${shown(name)} cannot be the name of a struct. Take letters and digits, and no name of Solidity's own.`,
      );
    }
    if (!(fields instanceof Array)) {
      throw new ChainError(`types.${name}: must be a list of fields, not ${shown(fields)}.`);
    }
    count += fields.length;
    if (count > MAX_FIELDS) {
      throw new ChainError(`types: must not have more than ${String(MAX_FIELDS)} fields together.`);
    }
    return [name, readFields(name, fields, declared)];
  });
  return new Map(structs);
}

function readFields(
  struct: string,
  fields: readonly JsonValue[],
  declared: ReadonlySet<string>,
): readonly Field[] {
  const taken = new Set<string>();
  return fields.map((field, index): Field => {
    const path = `types.${struct}[${String(index)}]`;
    const keys = isJsonObject(field) ? Object.keys(field).toSorted().join() : '';
    if (!isJsonObject(field) || keys !== 'name,type') {
      throw new ChainError(`${path}: must be {"name": …, "type": …}, not ${shown(field)}.`);
    }
    const { name, type } = field;
    if (typeof name !== 'string' || !isName(name)) {
      throw new ChainError(`${path}.name: must be a name of letters and digits, not ${shown(name)}.`);
    }
    if (taken.has(name)) throw new ChainError(`${path}.name: the type has another field ${name}.`);
    taken.add(name);
    const read = typeof type === 'string' ? readType(type, declared) : undefined;
    if (typeof type !== 'string' || read === undefined) {
      throw new ChainError(
        `${path}.type: must be a type of EIP-712, such as uint256, or one of the types; ${shown(type)} is not.`,
      );
    }
    return { name, type: read, text: type };
  });
}

/** Undefined: there is no such type. */
function readType(text: string, declared: ReadonlySet<string>): FieldType | undefined {
  if (text.length > MAX_NAME + 10 * MAX_DIMENSIONS) return undefined;
  const { base = '', dimensions = '' } =
    /^(?<base>\w+)(?<dimensions>(?:\[(?:[1-9]\d{0,4})?\])*)$/.exec(text)?.groups ?? {};
  const lengths = [...dimensions.matchAll(/\[(\d*)\]/g)].map(([, length = '']) => length);
  const item = declared.has(base) ? ({ kind: 'struct', name: base } as const) : elementary(base);
  if (item === undefined || lengths.length > MAX_DIMENSIONS) return undefined;
  return lengths.reduce<FieldType>(
    (inner, length) => ({ kind: 'array', item: inner, length: length === '' ? null : Number(length) }),
    item,
  );
}

function elementary(text: string): FieldType | undefined {
  if (text === 'address' || text === 'bool' || text === 'string') return { kind: text };
  if (text === 'bytes') return { kind: 'bytes', size: null };
  const { base = '', size = '' } = SIZED.exec(text)?.groups ?? {};
  const number = Number(size);
  if (base === 'bytes') return number <= 32 ? { kind: 'bytes', size: number } : undefined;
  if (base === '' || number > 256 || number % 8 !== 0) return undefined;
  return { kind: 'integer', bits: number, isUnsigned: base === 'uint' };
}

function isName(text: string): boolean {
  return text.length <= MAX_NAME && NAME.test(text) && text !== '__proto__';
}
