import { isJsonObject, type JsonObject } from '../../../../core/model/json.js';
import { checkOffchainLookup } from './offchain-lookups.js';

/** Maximum size of a call's return data, in bytes. */
const MAX_RETURNED = 128 * 1024;
/** Maximum size of a revert's data, in bytes. */
const MAX_REVERT = 16 * 1024;
/**
 * Maximum length of other strings, in characters: a quantity has at most 66, and long ones convert slowly to decimal.
 */
const MAX_STRING = 1_024;
/** Maximum size of the result of other methods, a quantity or a word, in bytes. */
const MAX_WORD = 32;
/** Methods whose result is bytes. */
const RETURN_BYTES: ReadonlySet<string> = new Set(['eth_call', 'eth_getCode']);
/** Byte fields of transactions, blocks and logs; only the size of the response bounds them. */
const BYTES_FIELDS: ReadonlySet<string> = new Set(['data', 'extraData', 'input', 'logsBloom']);

/**
 * Maximum lengths of fields of simulated calls, in characters. `data` of their reverts is among the byte fields: who
 * decodes it, checks its size.
 */
const CALL_FIELDS: ReadonlyMap<string, number> = new Map([
  ['returnData', hexLength(MAX_RETURNED)],
  ['message', hexLength(MAX_REVERT)],
]);

/** A node's response contains a value that is too large to process, even if the response itself is not. */
export class RpcResponseError extends RangeError {
  override readonly name = 'RpcResponseError';
}

/**
 * Checks the sizes of the values in a parsed JSON-RPC response before they are decoded or converted.
 * @param request the body of the request
 * @throws RpcResponseError
 */
export function checkRpcResponse(response: unknown, request: unknown): void {
  if (!isJsonObject(response)) return;
  const { result, error } = response;
  const method = isJsonObject(request) && typeof request.method === 'string' ? request.method : '';
  if (typeof result === 'string') {
    bound(result, hexLength(RETURN_BYTES.has(method) ? MAX_RETURNED : MAX_WORD));
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

/** Recursive; `BOUNDS` in `endpoints.ts` limits the depth. */
function checkFields(value: unknown, key = ''): void {
  if (typeof value === 'string') {
    if (!BYTES_FIELDS.has(key)) bound(value, CALL_FIELDS.get(key) ?? MAX_STRING);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) checkFields(inner, Array.isArray(value) ? key : name);
  }
}

function bound(text: string, length: number): void {
  if (text.length > length) throw new RpcResponseError('The response contains a value that is too long');
}

function hexLength(bytes: number): number {
  return 2 + 2 * bytes;
}
