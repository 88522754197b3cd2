import { isHex, size, slice, toFunctionSignature, type AbiFunction, type Hex } from 'viem';
import type { JsonObject, JsonValue } from '../../../../core/model/json.js';
import { accountOf, contractOf } from './addresses.js';
import { ChainError } from '../chain-error.js';
import { chainFields } from '../chains.js';
import { encodeCall } from '../abi/functions.js';
import { decodeData, ReturnDataError } from '../abi/return-data.js';
import { describeRevert, revertOf } from '../abi/reverts.js';
import type { Action, Scope } from '../scope.js';
import { parseFunction } from '../abi/signatures.js';
import { resultOf } from '../abi/values.js';
import { shown } from '../words.js';
import { tryCall } from './trials.js';

/** `{contract, function, args?}` → the return value of a contract's function. */
export const callViewFunction: Action = async (args, scope) => {
  const { client, chain } = scope;
  const item = parseFunction(args.function);
  if (item.outputs.length === 0) {
    throw new ChainError('The function does not declare what it returns. Add "returns (…)" to it.');
  }
  const { address } = await contractOf(scope, args.contract);
  const data = await encodeCall(scope, item, args.args);
  const answer = await client.call({ to: address, data }).catch((error: unknown) => {
    const revert = revertOf(error);
    if (revert === undefined) throw error;
    throw new ChainError(`The contract refused the call: ${describeRevert(revert)}`, { cause: error });
  });
  const { result } = decoded(item, answer.data, `${address} on ${chain.name}`);
  return { result, function: toFunctionSignature(item), contract: address, ...chainFields(chain) };
};

/** `{function, args?}` → the data of a call. Sends no request to a node, except to resolve names. */
export const encodeFunctionCall: Action = async (args, scope) => {
  const item = parseFunction(args.function);
  const data = await encodeCall(scope, item, args.args);
  return { data, function: toFunctionSignature(item), selector: slice(data, 0, 4), bytes: size(data) };
};

/** `{contract, function | data, args?, value_wei?, from?}` → the outcome of a simulated transaction. Sends nothing. */
export const simulateCall: Action = async (args, scope) => {
  const { chain } = scope;
  const from = await accountOf(scope, args.from);
  const to = await contractOf(scope, args.contract);
  const item = args.function === undefined ? undefined : parseFunction(args.function);
  const data = item === undefined ? dataOf(args.data) : await encodeCall(scope, item, args.args);
  const value = weiOf(args.value_wei);
  const call = { account: from.address, to: to.address, data, value };
  const facts = { from: from.address, to: to.address, data, value_wei: String(value), ...chainFields(chain) };
  const trial = await tryCall(scope, call);
  if (!trial.success) return { success: false, reason: trial.reason, ...facts };
  const { returned, gas } = trial;
  return { success: true, ...shownAnswer(item, returned, scope, to.address), gas: String(gas), ...facts };
};

function shownAnswer(
  item: AbiFunction | undefined,
  data: Hex | undefined,
  { chain }: Scope,
  to: string,
): JsonObject {
  if (item === undefined) return { returned: data ?? '0x' };
  if (item.outputs.length === 0) return {};
  return decoded(item, data, `${to} on ${chain.name}`);
}

/**
 * Decodes the return data of a call.
 * @throws ChainError when there is none (the address has no contract, for example) or it does not match the signature
 */
function decoded(item: AbiFunction, data: Hex | undefined, where: string): { readonly result: JsonValue } {
  if (data === undefined)
    throw new ChainError(`There is no contract with the function ${item.name} at ${where}.`);
  try {
    return { result: resultOf(item.outputs, decodeData(item.outputs, data)) };
  } catch (error) {
    const isTooLarge = error instanceof ReturnDataError && error.isTooLarge;
    const what = isTooLarge ? 'more values than can be read' : 'data that does not match the function';
    throw new ChainError(`The contract at ${where} returned ${what}.`, { cause: error });
  }
}

function dataOf(given: JsonValue | undefined): Hex {
  if (given === undefined) return '0x';
  if (isHex(given) && /^0x(?:[0-9a-f]{2})*$/i.test(given)) return given;
  throw new ChainError(`data: must be hex such as 0xa9059cbb, not ${shown(given)}.`);
}

function weiOf(given: JsonValue | undefined): bigint {
  if (given === undefined) return 0n;
  if (typeof given === 'string' && /^\d{1,78}$/.test(given.trim())) return BigInt(given.trim());
  throw new ChainError(`value_wei: must be a whole number of wei as a decimal string, not ${shown(given)}.`);
}
