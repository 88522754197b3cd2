import type { WalletRequest } from '../model/wallet-request.js';

type Known = ReadonlyMap<number, WalletRequest>;

/** Returns the ids of the transactions that must come before a request. */
export function requiredBefore({ payload }: Pick<WalletRequest, 'payload'>): readonly number[] {
  return payload.kind === 'transaction' ? payload.after : [];
}

/**
 * Explains why requests cannot be made in this order, in words for the assistant. Undefined: they can.
 * @param asked in the order in which the wallet should sign
 * @param known the requests that `asked` depend on, by id
 */
export function orderProblem(asked: readonly WalletRequest[], known: Known): string | undefined {
  const ids = asked.map(({ id }) => id);
  for (const [place, request] of asked.entries()) {
    for (const before of requiredBefore(request)) {
      const name = `Request ${String(request.id)}`;
      const index = ids.indexOf(before);
      if (index > place) return `${name} comes after request ${String(before)}: name them in this order`;
      if (index !== -1) continue;
      const earlier = known.get(before);
      if (earlier === undefined || hasFailed(earlier))
        return `${name} depends on request ${String(before)}, which did not take place: stage it again`;
      if (earlier.requestedAt === null)
        return `${name} depends on request ${String(before)}: request both, that one first`;
    }
  }
  return undefined;
}

/** True if what was staged did not, and will not, take place. */
export function hasFailed({ state }: Pick<WalletRequest, 'state'>): boolean {
  return state === 'expired' || state === 'rejected' || state === 'failed' || state === 'differs';
}
