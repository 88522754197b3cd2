import { isJsonObject, type JsonObject } from '../../../../core/model/json.js';
import { checkOffchainLookup } from './offchain-lookups.js';

/** Bytes that a call may return. */
const MAX_RETURNED = 128 * 1024;
/** Bytes of a revert's data. */
const MAX_REVERT = 16 * 1024;
/** Characters of any other string: a quantity has at most 66, and a long one is slow to write in decimal. */
const MAX_STRING = 1_024;
/** Methods whose result is bytes. */
const RETURN_BYTES: ReadonlySet<string> = new Set(['eth_call', 'eth_getCode']);
/** Fields of transactions, blocks and logs that are bytes; the size of the response bounds them. */
const BYTES_FIELDS: ReadonlySet<string> = new Set(['data', 'extraData', 'input', 'logsBloom']);

/** A response of a node that is too large to be worked on, whatever its number of bytes. */
export class RpcResponseError extends RangeError {
  override readonly name = 'RpcResponseError';
}

/**
 * Checks the sizes in a parsed JSON-RPC response before anything decodes or converts it.
 * @param request the body of the request
 * @throws RpcResponseError
 */
export function checkRpcResponse(response: unknown, request: unknown): void {
  if (!isJsonObject(response)) return;
  const { result, error } = response;
  const method = isJsonObject(request) && typeof request.method === 'string' ? request.method : '';
  if (typeof result === 'string') {
    bound(result, RETURN_BYTES.has(method) ? hexLength(MAX_RETURNED) : MAX_STRING);
  } else {
    checkFields(result);
  }
  if (isJsonObject(error)) checkError(error);
}

function checkError({ message, data }: JsonObject): void {
  if (typeof message === 'string') bound(message, hexLength(MAX_REVERT));
  const revert = isJsonObject(data) ? data.data : data;
  if (typeof revert !== 'string') {
    checkFields(data);
    return;
  }
  bound(revert, hexLength(MAX_REVERT));
  if (!checkOffchainLookup(revert)) throw new RpcResponseError('An offchain lookup is too large');
}

/** The recursion is bounded: the response was measured before it was parsed. */
function checkFields(value: unknown, key = ''): void {
  if (typeof value === 'string') {
    if (!BYTES_FIELDS.has(key)) bound(value, MAX_STRING);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) checkFields(inner, Array.isArray(value) ? key : name);
  }
}

function bound(text: string, length: number): void {
  if (text.length > length) throw new RpcResponseError('The response holds a value that is too long');
}

function hexLength(bytes: number): number {
  return 2 + 2 * bytes;
}
