import { MethodNotFoundRpcError, MethodNotSupportedRpcError } from 'viem';
import type { SimulatedStep } from '../../../../core/ports/chains.js';
import { describeRevert, revertOf } from '../abi/reverts.js';
import { tryCall, withoutFunds } from '../lookups/trials.js';
import type { Client } from '../rpc/client.js';
import { chainOf, refusalIn } from '../rpc/faults.js';
import { readObject, ResponseFieldError } from '../rpc/response-fields.js';
import type { ChainScope } from '../scope.js';
import type { ChainSettings } from '../settings.js';
import { failedStep, readStep, wireCall, type PreparedCall } from './simulated-steps.js';

/** The errors of `eth_simulateV1` about a call that no block can hold. */
const CALL_CODES = { least: -38_099, most: -38_000 } as const;
const POOR = -38_014;
const NO_FUNDS = /insufficient (?:funds|balance)/i;
const NO_GAS = /intrinsic gas|gas limit/i;
const MISSING = [MethodNotFoundRpcError, MethodNotSupportedRpcError];
const NOT_SIMULATED = 'It was not simulated, because a call before it cannot be made.';

type Attempt =
  | { readonly steps: readonly SimulatedStep[] }
  /** Why the node refuses the calls, in words. */
  | { readonly refusal: string };

/**
 * Simulates calls as one block (`eth_simulateV1`), so that each sees what the ones before it did. A call that no block
 * can hold, as when the sender lacks the value, makes the node refuse the whole block: then bisection finds the longest
 * beginning that it accepts, the call behind that fails, and the others are not simulated.
 * @param calls at least one
 * @throws an error of the client that is not about the calls
 */
export async function simulateBatch(
  scope: ChainScope,
  calls: readonly PreparedCall[],
): Promise<readonly SimulatedStep[]> {
  const whole = await attempt(scope, calls);
  if ('steps' in whole) return explained(scope, calls, whole.steps);
  let [accepted, refused]: readonly [number, number] = [0, calls.length];
  let steps: readonly SimulatedStep[] = [];
  let { refusal } = whole;
  while (refused - accepted > 1) {
    const count = Math.floor((accepted + refused) / 2);
    const attempted = await attempt(scope, calls.slice(0, count));
    if ('steps' in attempted) [accepted, steps] = [count, attempted.steps];
    else [refused, refusal] = [count, attempted.refusal];
  }
  const others = calls.slice(refused).map(() => failedStep(NOT_SIMULATED));
  return [...(await explained(scope, calls, steps)), failedStep(refusal), ...others];
}

/** Whether a node lacks the method. */
export function isMethodMissing(error: unknown): boolean {
  return chainOf(error).some((cause) => MISSING.some((kind) => cause instanceof kind));
}

async function attempt({ client, chain }: ChainScope, calls: readonly PreparedCall[]): Promise<Attempt> {
  try {
    return { steps: await simulateBlock(client, calls) };
  } catch (error) {
    const refusal = refusalOf(error, chain);
    if (refusal === undefined) throw error;
    return { refusal };
  }
}

async function simulateBlock(
  client: Client,
  calls: readonly PreparedCall[],
): Promise<readonly SimulatedStep[]> {
  const block = { calls: calls.map(wireCall) };
  const options = { blockStateCalls: [block], traceTransfers: false, validation: false };
  const blocks: unknown = await client.request({ method: 'eth_simulateV1', params: [options, 'latest'] });
  if (!Array.isArray(blocks) || blocks.length !== 1) throw new ResponseFieldError('There is not one block');
  const { calls: results } = readObject(blocks[0]);
  if (!(results instanceof Array) || results.length !== calls.length) {
    throw new ResponseFieldError('The number of results is not that of the calls');
  }
  return results.map(readStep);
}

/** Why a node refuses to simulate calls at all; undefined: the error is not about the calls. */
function refusalOf(error: unknown, chain: ChainSettings): string | undefined {
  const refusal = refusalIn(chainOf(error));
  if (refusal === undefined || isMethodMissing(error)) return undefined;
  const { code, message } = refusal;
  if (code === POOR || NO_FUNDS.test(message)) return withoutFunds(chain);
  const revert = revertOf(error);
  if (revert !== undefined) return describeRevert(revert);
  if (NO_GAS.test(message)) return 'It needs more gas than a block has.';
  const isAboutCall = code !== null && code >= CALL_CODES.least && code <= CALL_CODES.most;
  return isAboutCall ? `The node refuses to simulate it (code ${String(code)}).` : undefined;
}

/** Some nodes give no reason for a failure. The first call depends on no other, so that a plain call fails as it does. */
async function explained(
  scope: ChainScope,
  calls: readonly PreparedCall[],
  steps: readonly SimulatedStep[],
): Promise<readonly SimulatedStep[]> {
  const [call] = calls;
  const [step, ...others] = steps;
  if (call === undefined || step === undefined || step.success || step.revertReason !== null) return steps;
  const { from, ...rest } = call;
  const trial = await tryCall(scope, { account: from, ...rest }).catch((error: unknown) => {
    // A node that refuses to make the call alone gives no reason either.
    if (refusalIn(chainOf(error)) === undefined) throw error;
  });
  return trial?.success === false ? [{ ...step, revertReason: trial.reason }, ...others] : steps;
}
