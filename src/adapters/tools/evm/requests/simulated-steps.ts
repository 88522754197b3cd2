import { numberToHex, type Address, type Hex } from 'viem';
import type { SimulatedCall, SimulatedStep } from '../../../../core/ports/chains.js';
import { describeRevert, haltReason, revertFrom } from '../abi/reverts.js';
import { isJsonObject, type JsonValue } from '../../../../core/model/json.js';
import {
  readAddress,
  readBytes,
  readCount,
  readObject,
  readQuantity,
  ResponseFieldError,
} from '../rpc/response-fields.js';

/** Characters of a result: 1 KiB in hex. */
const MAX_RESULT = 2 + 2 * 1_024;

/** A call with its sender, checked. */
export interface PreparedCall {
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
  readonly data: Hex;
}

export function prepareCall(from: string, { to, value, data }: SimulatedCall): PreparedCall {
  return { from: readAddress(from), to: readAddress(to), value: BigInt(value), data: readBytes(data) };
}

/** Converts a call to the fields of JSON-RPC. */
export function wireCall(call: PreparedCall) {
  return { ...call, value: numberToHex(call.value) };
}

/** A result of at most 1 KiB; what is cut off is replaced by `…`. */
export function shortened(result: string): string {
  return result.length > MAX_RESULT ? `${result.slice(0, MAX_RESULT)}…` : result;
}

/** A step that fails for a reason in words. */
export function failedStep(revertReason: string | null, gasUsed: string | null = null): SimulatedStep {
  return { success: false, result: null, revertReason, gasUsed };
}

/**
 * Reads what `eth_simulateV1` returns of one call. The reason of a failure is null when the node does not give one.
 * @throws ResponseFieldError when it is malformed
 */
export function readStep(value: unknown): SimulatedStep {
  const { status, returnData, gasUsed, error } = readObject(value);
  const outcome = readQuantity(status);
  const gas = String(readCount(gasUsed));
  if (outcome === 1n) {
    return {
      success: true,
      result: shortened(readBytes(returnData ?? '0x')),
      revertReason: null,
      gasUsed: gas,
    };
  }
  if (outcome !== 0n) throw new ResponseFieldError('The status is neither 0 nor 1');
  return failedStep(reasonOf(error ?? null, returnData ?? null), gas);
}

/** Nodes put the data of a revert into the error, or leave it as what the call returned. */
function reasonOf(error: JsonValue, returned: JsonValue): string | null {
  const fields = isJsonObject(error) ? error : {};
  const message = typeof fields.message === 'string' ? fields.message : '';
  const revert = revertFrom(message, [fields.data, returned]);
  if (revert !== undefined) return describeRevert(revert);
  return haltReason(message) ?? null;
}
