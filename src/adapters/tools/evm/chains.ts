import type { JsonValue } from '../../../core/model/json.js';
import { flatUserState, type UserState } from '../../../core/model/user-state.js';
import { ChainError } from './chain-error.js';
import type { ChainSettings } from './settings.js';

const ENS_RESOLVER = '0xeeeeeeee14d718c2b47d9923deab1335e144eeee';
const ENS_CHAINS: readonly number[] = [1, 11_155_111];

/**
 * Selects the chain of a call: the one that the arguments name, otherwise the session's, otherwise the first
 * configured.
 * @throws ChainError when that chain is not configured
 */
export function chooseChain(
  chains: readonly ChainSettings[],
  named: JsonValue | undefined,
  userState: UserState | null,
): ChainSettings {
  const sessions = flatUserState(userState).chainId;
  const id = named ?? sessions;
  const chain = id === null ? chains[0] : chains.find((candidate) => candidate.id === id);
  if (chain !== undefined) return chain;
  const known = chains.map(({ id: known, name }) => `${String(known)} (${name})`).join(', ');
  const whose = named === undefined || named === null ? "The session's chain" : 'Chain';
  throw new ChainError(
    `${whose} ${JSON.stringify(id)} is not configured. Configured are ${known === '' ? 'none' : known}.`,
  );
}

/** The symbol of a chain's native currency. */
export function unitOf(chain: ChainSettings): string {
  return chain.symbol ?? 'ETH';
}

/** The decimals of a chain's native currency. */
export function decimalsOf(chain: ChainSettings): number {
  return chain.decimals ?? 18;
}

/** The address of the contract that resolves names on a chain; null: none. */
export function resolverOf({ id, ens }: ChainSettings): string | null {
  if (ens !== undefined) return ens === null ? null : ens.universalResolver;
  return ENS_CHAINS.includes(id) ? ENS_RESOLVER : null;
}

/** The fields of a result that identify its chain. */
export function chainFields({ id, name }: ChainSettings): {
  readonly chain_id: number;
  readonly chain: string;
} {
  return { chain_id: id, chain: name };
}
