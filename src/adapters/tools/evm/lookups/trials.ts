import { InsufficientFundsError, type Address, type Hex } from 'viem';
import { describeRevert, revertOf } from '../abi/reverts.js';
import { unitOf } from '../chains.js';
import { chainOf } from '../rpc/faults.js';
import type { ChainScope } from '../scope.js';
import type { ChainSettings } from '../settings.js';

/** A call to try. */
export interface TriedCall {
  readonly account: Address;
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
}

/** What one call would do: `returned` is undefined when nothing comes back. */
export type Trial =
  | { readonly success: true; readonly returned: Hex | undefined; readonly gas: bigint }
  | { readonly success: false; readonly reason: string };

/**
 * Tries a call on top of the latest block, without sending it.
 * @throws an error of the client that is not about the call
 */
export async function tryCall({ client, chain }: ChainScope, call: TriedCall): Promise<Trial> {
  try {
    const { data } = await client.call(call);
    return { success: true, returned: data, gas: await client.estimateGas(call) };
  } catch (error) {
    return { success: false, reason: reasonOf(error, chain) };
  }
}

/** Why a call fails when the sender cannot pay for it. */
export function withoutFunds(chain: ChainSettings): string {
  return `The sender does not have enough ${unitOf(chain)} for the value and the gas.`;
}

/** Describes why a call would fail. @throws the error itself when the call is not its cause */
function reasonOf(error: unknown, chain: ChainSettings): string {
  const revert = revertOf(error);
  if (revert !== undefined) return describeRevert(revert);
  const isPoor = chainOf(error).some((cause) => cause instanceof InsufficientFundsError);
  if (isPoor) return withoutFunds(chain);
  throw error;
}
