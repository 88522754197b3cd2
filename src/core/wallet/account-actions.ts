import { isJsonObject, type JsonValue } from '../model/json.js';
import type { SignaturePayload } from '../model/wallet-request.js';

const HASH_BYTES = 32;
const DOMAIN_TYPE = 'EIP712Domain';

/**
 * Explains why the signature of a message could act for a smart account of the signer, such as a Safe: whoever has it
 * could then send all that the account holds, or sign for it. Undefined: it could not. The types are part of what is
 * signed, so that a message cannot evade this under other types.
 */
export function accountActionIn({ typedData, text }: SignaturePayload): string | undefined {
  if (typedData === null) {
    const isHash = readingsOf(text ?? '').some(({ length }) => length === HASH_BYTES);
    return isHash ? 'a text of 32 bytes can be the hash of a transaction' : undefined;
  }
  const types = isJsonObject(typedData.types) ? typedData.types : {};
  const structs = Object.keys(types).filter((name) => name !== DOMAIN_TYPE);
  if (structs.some((name) => typesIn(types[name]).some((type) => /^bytes(?:\[|$)/.test(type))))
    return 'typed data with bytes can hold a call of a contract';
  const { primaryType } = typedData;
  const fields = typeof primaryType === 'string' ? typesIn(types[primaryType]) : [];
  const isHash = fields.includes('bytes32') && fields.every((type) => /^(?:bytes32|address)$/.test(type));
  return isHash ? 'typed data that consists of hashes can stand for a transaction' : undefined;
}

/** Returns what wallets may sign for a text: some clients trim it, and some wallets decode a text that is hex. */
export function readingsOf(text: string): readonly Buffer[] {
  const trimmed = text.trim();
  const hex = /^(?:0x)?((?:[0-9a-f]{2})+)$/i.exec(trimmed)?.[1];
  return [Buffer.from(text), Buffer.from(trimmed), ...(hex === undefined ? [] : [Buffer.from(hex, 'hex')])];
}

/** Returns the types of the fields of a struct. */
function typesIn(fields: JsonValue | undefined): readonly string[] {
  if (!Array.isArray(fields)) return [];
  return fields.flatMap((field: JsonValue) =>
    isJsonObject(field) && typeof field.type === 'string' ? [field.type] : [],
  );
}
