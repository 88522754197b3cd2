import { ContractFunctionRevertedError, getAddress, toCoinType, type Address } from 'viem';
import { normalize } from 'viem/ens';
import { ChainError } from '../chain-error.js';
import { resolverOf } from '../chains.js';
import { chainOf } from '../rpc/faults.js';
import type { ChainScope } from '../scope.js';
import type { ChainSettings } from '../settings.js';
import { shown } from '../words.js';

/** In characters, as in the DNS (RFC 1035 §2.3.4). */
const MAX_NAME = 255;
/** Errors of the universal resolver which mean that a name or a record does not exist. */
const ABSENT = new Set([
  'ResolverNotFound',
  'ResolverNotContract',
  'UnsupportedResolverProfile',
  'ReverseAddressMismatch',
]);

/** The result of resolving a name. */
export interface ResolvedName {
  readonly address: Address;
  /** The chain of the address record: the call's chain, or the home chain of names. */
  readonly record: ChainSettings;
}

/**
 * Resolves an ENS name for the call's chain: uses the record for that chain (ENSIP-11), otherwise the record for the
 * home chain of names. The home chain is the call's chain if it has a resolver, otherwise the first configured chain
 * with one.
 * @throws ChainError when the name has no address, or no configured chain has a resolver
 */
export async function resolveName(scope: ChainScope, text: string): Promise<ResolvedName> {
  const { home, client, universalResolverAddress } = openNames(scope);
  const name = normalized(text);
  const lookUp = (coinType?: bigint): Promise<Address | null> =>
    unlessAbsent(name, () =>
      client.getEnsAddress({
        name,
        universalResolverAddress,
        strict: true,
        ...(coinType !== undefined && { coinType }),
      }),
    );
  const own = home.id === scope.chain.id ? null : await lookUp(toCoinType(scope.chain.id));
  // Records for other chains are plain bytes, so add the checksum.
  if (own !== null) return { address: getAddress(own), record: scope.chain };
  const address = await lookUp();
  if (address !== null) return { address, record: home };
  throw new ChainError(`The name ${name} has no address.`);
}

/**
 * Looks up the primary name of an address on the call's chain, verified by forward resolution (ENSIP-19).
 * @returns null when there is none, or when it is not normalized (ENSIP-15), since anybody can set such a name
 * @throws ChainError
 */
export async function primaryName(scope: ChainScope, address: Address): Promise<string | null> {
  const { home, client, universalResolverAddress } = openNames(scope);
  const coinType = home.id === scope.chain.id ? 60n : toCoinType(scope.chain.id);
  const name = await unlessAbsent(address, () =>
    client.getEnsName({ address, universalResolverAddress, coinType, strict: true }),
  );
  return name !== null && isNormalized(name) ? name : null;
}

function isNormalized(name: string): boolean {
  try {
    return name.length <= MAX_NAME && normalize(name) === name;
  } catch {
    return false;
  }
}

function openNames(scope: ChainScope) {
  const { chain, chains } = scope;
  const home = [chain, ...chains].find((candidate) => resolverOf(candidate) !== null);
  const universalResolver = home === undefined ? null : resolverOf(home);
  if (home === undefined || universalResolver === null) {
    throw new ChainError(
      'Names cannot be resolved: no configured chain has a name service. Give an address.',
    );
  }
  return {
    home,
    client: scope.openForNames(home),
    universalResolverAddress: hexOf(universalResolver),
  };
}

function normalized(text: string): string {
  try {
    return normalize(text);
  } catch (error) {
    throw new ChainError(`${shown(text)} is not a valid name.`, { cause: error });
  }
}

async function unlessAbsent<T>(subject: string, look: () => Promise<T | null>): Promise<T | null> {
  try {
    return await look();
  } catch (error) {
    const errors = chainOf(error);
    const revert = errors.find((cause) => cause instanceof ContractFunctionRevertedError);
    if (revert !== undefined && ABSENT.has(revert.data?.errorName ?? '')) return null;
    const gateways = errors.some((cause) => cause instanceof Error && cause.name === 'OffchainLookupError');
    if (revert?.data?.errorName === 'HttpError' || gateways) {
      throw new ChainError(`The gateway for ${subject} could not be reached.`, { cause: error });
    }
    if (revert !== undefined)
      throw new ChainError(`The name service cannot resolve ${subject}.`, { cause: error });
    throw error;
  }
}

function hexOf(address: string): Address {
  return `0x${address.toLowerCase().replace(/^0x/, '')}`;
}
