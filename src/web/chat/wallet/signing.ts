import type { PendingRequest, PendingSignature, PendingTransaction } from '../../../client/pending.js';
import type { JsonObject, WalletReport } from '../../../client/types.js';
import { isSameAddress } from './address.js';
import { hexOf, hexText } from './amounts.js';
import { chainIdOf, type Connected } from './connection.js';
import { callWallet, WalletError, type Provider } from './provider.js';
import type { KeptRequest, Outcome } from './records.js';

/** Maximum length in bytes of a signature that the service accepts. */
const MAX_SIGNATURE = 16_384;
const HASH = /^0x[0-9a-f]{64}$/i;

/** True for the text of a transaction hash. */
export function isHash(text: string): boolean {
  return HASH.test(text);
}

/** True if a wallet has to change its chain before it can sign. A text is of no chain. */
export function needsOtherChain(request: PendingRequest, chainId: number | null): boolean {
  return chainId !== request.chainId && (request.kind === 'transaction' || request.typedData !== null);
}

/**
 * Selects the account and the chain of a request. Nothing is signed here.
 * @returns the address that will sign
 * @throws WalletError in words for the user
 */
export async function prepare({ wallet, account }: Connected, request: PendingRequest): Promise<string> {
  const { provider } = wallet;
  const accounts = await callWallet(provider, 'eth_accounts');
  const signer = request.from ?? account;
  const isThere = Array.isArray(accounts) && accounts.some((one) => isSameAddress(String(one), signer));
  if (!isThere) throw new WalletError(`The request is for ${signer}: select this account in the wallet.`);
  await changeChain(provider, request);
  return signer;
}

/** The selected chain is read again, because a wallet may say that it changed it and have not. */
async function changeChain(provider: Provider, request: PendingRequest): Promise<void> {
  if (!needsOtherChain(request, await chainIdOf(provider))) return;
  await callWallet(provider, 'wallet_switchEthereumChain', [{ chainId: hexOf(request.chainId) }]);
  if (needsOtherChain(request, await chainIdOf(provider)))
    throw new WalletError(`The wallet did not change to chain ${String(request.chainId)}.`);
}

/**
 * Asks a wallet to sign a request, exactly as it is.
 * @returns the hash of the transaction, or the signature
 * @throws WalletError in words for the user
 */
export function sign(provider: Provider, signer: string, request: PendingRequest): Promise<string> {
  return request.kind === 'transaction'
    ? send(provider, signer, request)
    : signMessage(provider, signer, request);
}

async function send(provider: Provider, from: string, request: PendingTransaction): Promise<string> {
  const { to, value, data, chainId } = request;
  const transaction = { from, to, value: hexOf(value), data, chainId: hexOf(chainId) };
  const hash = await callWallet(provider, 'eth_sendTransaction', [transaction]);
  if (typeof hash === 'string' && isHash(hash)) return hash.toLowerCase();
  throw new WalletError('The wallet returned no valid transaction hash.');
}

async function signMessage(provider: Provider, signer: string, request: PendingSignature): Promise<string> {
  const { typedData, text } = request;
  const signature = await (typedData === null
    ? callWallet(provider, 'personal_sign', [hexText(text ?? ''), signer])
    : callWallet(provider, 'eth_signTypedData_v4', [signer, JSON.stringify(typedData)]));
  const isSound =
    typeof signature === 'string' &&
    /^0x([0-9a-f]{2})+$/i.test(signature) &&
    signature.length <= 2 + 2 * MAX_SIGNATURE;
  if (isSound) return signature.toLowerCase();
  throw new WalletError('The wallet returned no valid signature.');
}

/** Returns the report of a kept outcome. */
export function reportOf({ kind, id }: KeptRequest, outcome: Outcome): WalletReport {
  const { status } = outcome;
  const proof = outcome.status === 'success' ? outcome.proof : null;
  const error: JsonObject = outcome.status === 'failed' ? { error: outcome.error } : {};
  if (kind === 'transaction') {
    const payload = { txHash: proof, status, ...error, pending_tx_ids: [id] };
    return { type: 'wallet:tx_complete', payload };
  }
  const payload = { status, ...(proof !== null && { signature: proof }), ...error, pending_eip712_id: id };
  return { type: 'wallet_eip712_response', payload };
}
