import { isObject, objectsIn, textOf } from '../../../../client/json.js';
import type { PendingSignature } from '../../../../client/pending.js';
import type { JsonObject, JsonValue } from '../../../../client/types.js';
import { chainName } from '../chains.js';
import { UNLIMITED } from './calldata.js';

const HASH_BYTES = 32;
const FOR_ACCOUNTS =
  'With this signature, others may be able to act for a smart account of yours, such as a Safe, and to take all that it holds.';
const FOR_FUNDS =
  'A signature can move funds as a transaction does: others can then do what the message allows, such as take tokens of yours.';

/** Returns what the signature of a message may allow others to do. */
export function signatureWarnings({ typedData, text, chainId }: PendingSignature): readonly string[] {
  if (typedData === null) {
    const isHash = new TextEncoder().encode(text ?? '').length === HASH_BYTES;
    return isHash ? [FOR_ACCOUNTS] : [];
  }
  const named = isObject(typedData.domain) ? typedData.domain.chainId : undefined;
  const isOther = named !== undefined && named !== null && String(integerOf(named)) !== String(chainId);
  const certain = [
    ...(permitsAll(typedData.message)
      ? ['With this signature, the spender can take all of a token that you have, now and later.']
      : []),
    ...(mayActForAccount(typedData) ? [FOR_ACCOUNTS] : []),
  ];
  return [
    ...(isOther ? [`The message names another chain than ${chainName(chainId)}.`] : []),
    ...(certain.length > 0 ? certain : [FOR_FUNDS]),
  ];
}

/**
 * True for typed data with `bytes`, which can hold a call of a contract, or of hashes alone. The types are part of what is
 * signed. The rule is that of `src/core/wallet/account-actions.ts`.
 */
function mayActForAccount({ types, primaryType }: JsonObject): boolean {
  const structs = Object.entries(isObject(types) ? types : {}).filter(([name]) => name !== 'EIP712Domain');
  const typesOf = (fields: JsonValue): readonly string[] =>
    objectsIn(fields).map((field) => textOf(field, 'type'));
  const own = structs.flatMap(([name, fields]) => (name === primaryType ? typesOf(fields) : []));
  return (
    structs.some(([, fields]) => typesOf(fields).some((type) => /^bytes(\[|$)/.test(type))) ||
    (own.includes('bytes32') && own.every((type) => /^(bytes32|address)$/.test(type)))
  );
}

/** True for a message that lets a spender take tokens without a limit (ERC-2612, the permits of Dai and Permit2). */
function permitsAll(message: JsonValue | undefined): boolean {
  const fields = fieldsIn(message ?? null);
  return (
    fields.some(([name]) => name === 'spender') &&
    fields.some(([name, value]) => {
      if (name === 'allowed') return value === true;
      return (name === 'value' || name === 'amount') && (integerOf(value) ?? 0n) >= UNLIMITED;
    })
  );
}

/** Returns the fields of all objects in a message. Iterative, so that no depth can exhaust the call stack. */
function fieldsIn(message: JsonValue): readonly (readonly [string, JsonValue])[] {
  const found: [string, JsonValue][] = [];
  for (let level = [message]; level.length > 0;) {
    const entries = level.filter(isObject).flatMap((item) => Object.entries(item));
    found.push(...entries);
    level = [...level.filter((item) => Array.isArray(item)).flat(), ...entries.map(([, value]) => value)];
  }
  return found;
}

/** Reads an integer in the forms that the service accepts in typed data; null: it is none. */
function integerOf(value: JsonValue): bigint | null {
  const isNumber = typeof value === 'number' && Number.isSafeInteger(value);
  const isText = typeof value === 'string' && /^(0x[0-9a-f]{1,98}|\d{1,100})$/i.test(value);
  return isNumber || isText ? BigInt(value) : null;
}
