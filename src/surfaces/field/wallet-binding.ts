import { isJsonObject, type JsonObject } from '../../core/model/json.js';
import { walletAddress } from '../../core/model/session.js';
import type { NamedSession } from './session-id.js';

/**
 * Returns how a request sets the wallet of its session. A session whose id is no UUID is never listed, so no wallet is
 * bound to it: the wallet becomes the address of its user state, which tools use as well.
 * @throws RefusedError `invalid` for a malformed wallet
 */
export function walletOf(
  { isAlias }: NamedSession,
  asked: { readonly wallet: string | undefined; readonly userState?: JsonObject | undefined },
): { readonly wallet: string | undefined; readonly userState: JsonObject | undefined } {
  const { wallet, userState } = asked;
  if (!isAlias || wallet === undefined) return { wallet, userState };
  const evm = userState?.evm;
  const address = walletAddress(wallet);
  return {
    wallet: undefined,
    userState: { ...userState, evm: { address, ...(isJsonObject(evm) ? evm : {}) } },
  };
}
