import { getAddress, isAddress, type Address } from 'viem';
import type { JsonValue } from '../../../../core/model/json.js';
import { flatUserState } from '../../../../core/model/user-state.js';
import { ChainError } from '../chain-error.js';
import { resolveName } from './names.js';
import type { ChainScope, Scope } from '../scope.js';
import { shown } from '../words.js';

/** An address, and the name that it was resolved from. */
export interface Account {
  readonly address: Address;
  readonly name?: string;
}

/** Resolves an argument, an address or a name, to an account. Defaults to the session's wallet. @throws ChainError */
export async function accountOf(scope: Scope, given: JsonValue | undefined): Promise<Account> {
  const absent = given === undefined || given === null || given === '';
  return namedAccount(scope, absent ? walletOf(scope) : given);
}

/** Resolves an argument (address, name, or symbol of a configured token) to a contract. @throws ChainError */
export async function contractOf(scope: ChainScope, given: JsonValue | undefined): Promise<Account> {
  return namedAccount(scope, tokenAddress(scope, given) ?? given);
}

/** Resolves a value, an address or a name, to an account. @throws ChainError */
export async function namedAccount(scope: ChainScope, given: JsonValue | undefined): Promise<Account> {
  const text = typeof given === 'string' ? given.trim() : '';
  if (isLiteralAddress(text)) return { address: getAddress(literalAddress(text)) };
  if (/^[^\s.:/]+(?:\.[^\s.:/]+)+$/u.test(text)) {
    const { address } = await resolveName(scope, text);
    return { address, name: text };
  }
  throw new ChainError(
    `${shown(given)} is not an address (0x and 40 hex digits) or a name such as vitalik.eth.`,
  );
}

/** Looks up the address of a configured token by its symbol, ignoring case. */
export function tokenAddress({ chain }: ChainScope, symbol: JsonValue | undefined): string | undefined {
  if (typeof symbol !== 'string') return undefined;
  const wanted = symbol.trim().toLowerCase();
  return chain.tokens?.find((token) => token.symbol.toLowerCase() === wanted)?.address;
}

function walletOf({ context }: Scope): string {
  const wallet = context.wallet ?? flatUserState(context.userState).address;
  if (wallet !== null) return wallet;
  throw new ChainError('No wallet is bound to this session. Give an address, or connect a wallet.');
}

/** True when a text has the form of an address rather than a name. Does not verify the checksum. */
export function isLiteralAddress(text: string): boolean {
  return /^0x[0-9a-f]{40}$/i.test(text);
}

/** Converts an address to lower case. @throws ChainError when it is in mixed case and its checksum (ERC-55) is wrong */
export function literalAddress(text: string): Address {
  const lower: Address = `0x${text.slice(2).toLowerCase()}`;
  // Only mixed case carries a checksum; `isAddress` verifies it, at the cost of a hash.
  if (!/[a-f]/.test(text.slice(2)) || isAddress(text)) return lower;
  throw new ChainError(`The address ${text} has a wrong checksum: one of its characters may be mistyped.`);
}
