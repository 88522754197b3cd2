import { isObject } from '../../../client/json.js';
import type { JsonObject, JsonValue } from '../../../client/types.js';

/** What the page reports to a session about the person's wallet. */
export interface WalletState {
  readonly address: string | null;
  readonly chainId: number | null;
  readonly isConnected: boolean;
}

/** True if a user state, flat or nested, shows this wallet. */
export function isReported(
  userState: JsonObject | null,
  { address, chainId, isConnected }: WalletState,
): boolean {
  const group = (name: string): JsonObject => {
    const value = userState?.[name];
    return isObject(value) ? value : {};
  };
  const evm = { ...userState, ...group('evm') };
  const connection = { ...userState, ...group('connection') };
  const lower = (value: JsonValue | undefined): string =>
    typeof value === 'string' ? value.toLowerCase() : '';
  const isShown = connection.is_connected === isConnected;
  if (!isConnected) return isShown || connection.is_connected === undefined;
  const chain = evm.chain_id ?? null;
  return isShown && lower(evm.address) === lower(address) && chain === chainId;
}
