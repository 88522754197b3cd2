import { parseAbiParameters, type Hex } from 'viem';
import type { JsonValue } from '../../../../core/model/json.js';
import { decodeData } from '../abi/return-data.js';

/** `OffchainLookup(address,string[],bytes,bytes4,bytes)` (ERC-3668). */
const SELECTOR = '0x556f1830';
const LOOKUP = parseAbiParameters('address, string[], bytes, bytes4, bytes');
/** The arguments of a batch gateway's `query` (ENSIP-21). */
const BATCH = parseAbiParameters('(address, string[], bytes)[]');
/** The URL of a batch that the client itself must split (ENSIP-21). */
const LOCAL_BATCH_URL = 'x-batch-gateway:true';
/** Maximum number of requests in a batch. */
const MAX_BATCH = 16;

/**
 * Checks that a revert which requests an offchain lookup is cheap to follow: its lists decode within the budget, and a
 * batch has at most 16 requests, none of which is a batch. Needed because any contract can revert like this and the
 * client library would decode it unchecked.
 * @returns false for an expensive or malformed lookup; true for any other revert
 */
export function checkOffchainLookup(revert: string): boolean {
  if (!revert.toLowerCase().startsWith(SELECTOR)) return true;
  try {
    const [, urls, callData] = decodeData(LOOKUP, `0x${revert.slice(SELECTOR.length)}`);
    if (!includesBatch(urls) || typeof callData !== 'string') return true;
    const [requests] = decodeData(BATCH, withoutSelector(callData));
    return (
      isList(requests) &&
      requests.length <= MAX_BATCH &&
      !requests.some((request) => isList(request) && includesBatch(request[1]))
    );
  } catch {
    return false;
  }
}

function includesBatch(urls: JsonValue | undefined): boolean {
  return isList(urls) && urls.includes(LOCAL_BATCH_URL);
}

function withoutSelector(data: string): Hex {
  return `0x${data.slice(SELECTOR.length)}`;
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}
