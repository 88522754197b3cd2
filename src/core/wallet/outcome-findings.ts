import { parseWei } from '../model/amount.js';
import type { TransactionPayload, WalletRequest, WalletVerification } from '../model/wallet-request.js';
import type { ChainTransaction } from '../ports/chains.js';

/** A verdict and why, as `WalletVerification` has them. */
export type Finding = Omit<WalletVerification, 'at'>;

/** The transaction hash or signature is missing: nothing can be verified. */
export function nothingToVerify({ payload }: Pick<WalletRequest, 'payload'>): Finding {
  const noun = payload.kind === 'transaction' ? 'transaction hash' : 'signature';
  return { verdict: 'not_found', detail: `the wallet reported no valid ${noun}` };
}

/** Judges a signature. @param isSigned undefined: the chain could not be read */
export function signatureFinding(wallet: string, isSigned: boolean | undefined): Finding {
  if (isSigned === undefined) return { verdict: 'not_found', detail: 'it could not be checked on the chain' };
  return isSigned
    ? { verdict: 'confirmed', detail: `by ${wallet}` }
    : { verdict: 'differs', detail: `it is not a signature of ${wallet} for what was staged` };
}

/** Judges a transaction. @param found undefined: the chain does not know it */
export function transactionFinding(
  { wallet, payload }: Pick<WalletRequest, 'wallet'> & { readonly payload: TransactionPayload },
  found: ChainTransaction | undefined,
): Finding {
  if (found === undefined) return { verdict: 'not_found', detail: 'the chain does not show it' };
  const difference = differenceOf(wallet, payload, found);
  if (difference !== undefined) return { verdict: 'differs', detail: difference };
  const { receipt } = found;
  if (receipt === null) return { verdict: 'not_found', detail: 'it is sent, but not mined' };
  return {
    verdict: receipt.succeeded ? 'confirmed' : 'failed',
    detail: `in block ${receipt.blockNumber}`,
  };
}

/** Describes the first difference between a transaction and what was staged. Undefined: there is none. */
function differenceOf(
  wallet: string,
  staged: TransactionPayload,
  { from, to, value, data, nonce, delegates }: ChainTransaction,
): string | undefined {
  if (from.toLowerCase() !== wallet) return `the sender is ${from}, not ${wallet}`;
  if (to?.toLowerCase() !== staged.to) return `the recipient is ${to ?? 'a new contract'}, not ${staged.to}`;
  if (parseWei(value) !== parseWei(staged.value)) return `the value is ${value} wei, not ${staged.value} wei`;
  if (data.toLowerCase() !== staged.data) return 'the data is not the staged one';
  if (delegates) return 'it also lets a contract act for an account (EIP-7702)';
  if (nonce < staged.nonce) return 'it is older than the request';
  return undefined;
}
