import type { Address, Hash, Hex } from 'viem';
import { isJsonObject, type JsonObject } from '../../../../core/model/json.js';

/** A field of a node's response is missing or malformed. */
export class ResponseFieldError extends Error {
  override readonly name = 'ResponseFieldError';
}

/** An object of a node's response. @throws ResponseFieldError */
export function readObject(value: unknown): JsonObject {
  if (isJsonObject(value)) return value;
  throw new ResponseFieldError('An object is missing');
}

/** Whole bytes in hex, in lower case. @throws ResponseFieldError */
export function readBytes(value: unknown): Hex {
  if (typeof value === 'string' && /^0x(?:[0-9a-f]{2})*$/i.test(value)) return lowerHex(value);
  throw new ResponseFieldError('Bytes are malformed');
}

/** A lower-case address. @throws ResponseFieldError */
export function readAddress(value: unknown): Address {
  if (typeof value === 'string' && /^0x[0-9a-f]{40}$/i.test(value)) return lowerHex(value);
  throw new ResponseFieldError('An address is malformed');
}

/** A hash in lower case. @throws ResponseFieldError */
export function readHash(value: unknown): Hash {
  if (typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value)) return lowerHex(value);
  throw new ResponseFieldError('A hash is malformed');
}

/** A quantity of at most 32 bytes. @throws ResponseFieldError */
export function readQuantity(value: unknown): bigint {
  if (typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value)) return BigInt(value);
  throw new ResponseFieldError('A quantity is malformed');
}

/** A quantity that a number holds exactly: a count, a gas limit, the number of a block. @throws ResponseFieldError */
export function readCount(value: unknown): number {
  const quantity = readQuantity(value);
  if (quantity <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(quantity);
  throw new ResponseFieldError('A count is too large');
}

/** Checks that a response is about the transaction or block that was requested. @throws ResponseFieldError */
export function checkHash(value: unknown, requested: Hash): void {
  if (readHash(value) !== requested) throw new ResponseFieldError('The response has another hash');
}

/** Checks that a receipt is of the transaction's sender. @throws ResponseFieldError */
export function checkSender(value: unknown, sender: Address): void {
  if (readAddress(value) !== sender) throw new ResponseFieldError('The receipt is of another sender');
}

/**
 * Checks the chain that a transaction names.
 * @param named 0: none, as in old transactions (before EIP-155)
 * @throws ResponseFieldError
 */
export function checkChain(named: number, id: number): void {
  if (named !== 0 && named !== id) throw new ResponseFieldError('The transaction is of another chain');
}

function lowerHex(text: string): Hex {
  return `0x${text.slice(2).toLowerCase()}`;
}
