import type { LookupAddress } from 'node:dns';
import dns from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { GuardError } from './guard-error.js';
import { isPublicAddress } from './public-addresses.js';

/** Resolves a host name to all its addresses. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/** Uses the system's resolver. */
export const systemResolve: Resolve = (hostname) => dns.lookup(hostname, { all: true });

/**
 * Creates a `lookup` for sockets that resolves a name and checks every address, so that the socket connects to a
 * checked address. A single non-public address rejects the name.
 */
export function checkedLookup(resolve: Resolve): LookupFunction {
  return asLookup(resolve, (hostname, addresses) => {
    if (addresses.some(({ address }) => !isPublicAddress(address))) throw refusedHost(hostname);
  });
}

/** Creates a `lookup` without the check, for hosts that the operator allows. */
export function openLookup(resolve: Resolve): LookupFunction {
  return asLookup(resolve, () => undefined);
}

/** The error for a host that is not public. */
export function refusedHost(hostname: string): GuardError {
  return new GuardError(
    `The host ${hostname} is refused: it leads to a private or local address. The operator can allow it.`,
  );
}

function asLookup(
  resolve: Resolve,
  check: (hostname: string, addresses: readonly LookupAddress[]) => void,
): LookupFunction {
  return (hostname, options, callback) => {
    const find = async (): Promise<LookupAddress[]> => {
      const addresses = await resolve(hostname);
      check(hostname, addresses);
      return addresses.filter(({ family }) => [family, 0, undefined].includes(familyOf(options.family)));
    };
    find().then(
      (addresses) => {
        const [first] = addresses;
        if (first === undefined) callback(new GuardError(`The host ${hostname} has no address.`), '');
        else if (options.all === true) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => {
        callback(error instanceof Error ? error : new Error('The lookup failed', { cause: error }), '');
      },
    );
  };
}

function familyOf(family: number | 'IPv4' | 'IPv6' | undefined): number | undefined {
  if (family === 'IPv4') return 4;
  return family === 'IPv6' ? 6 : family;
}
