import type { PendingRequest } from '../../../../client/pending.js';
import { checksummed } from '../address.js';
import { grouped } from '../amounts.js';
import { readTokenCall, UNLIMITED, type TokenCall } from './calldata.js';
import { nativeAmount } from '../chains.js';
import { signatureWarnings } from './signature-warnings.js';

/**
 * Describes a request in one line, with full addresses: shortened ones could look like others. Does not use the
 * assistant's label, which is untrusted.
 * @param amount the amount of the native currency with its symbol, if the service sent it
 */
export function titleOf(request: PendingRequest, amount: string | null): string {
  if (request.kind === 'signature') return request.typedData === null ? 'Sign a text' : 'Sign typed data';
  const { to, value, data, chainId } = request;
  const sent = nativeAmount(value, chainId, amount);
  if (data === '0x') return `Send ${sent} to ${checksummed(to)}`;
  const call = readTokenCall(data);
  const paid = value === 0n ? '' : ` and send ${sent}`;
  return call === null
    ? `Call the contract ${checksummed(to)}${paid}`
    : `${tokenTitle(call)} of token ${checksummed(to)}${paid}`;
}

function tokenTitle(call: TokenCall): string {
  const amount = mayBeOfNft(call) ? `${plainAmount(call)}, or one NFT,` : plainAmount(call);
  const to = checksummed(call.to);
  switch (call.action) {
    case 'approve':
      return `Allow ${to} to spend ${amount}`;
    case 'increaseAllowance':
      return `Allow ${to} to spend ${amount} more`;
    case 'setApprovalForAll':
      return `${call.amount === 0n ? 'Disallow' : 'Allow'} ${to} to take all that you have`;
    case 'transfer':
    case 'transferFrom':
      return `Transfer ${amount}${call.from === null ? '' : ` from ${checksummed(call.from)}`} to ${to}`;
  }
  return call.action satisfies never;
}

/** Returns the amount of a token call, whose decimals the page does not know. */
export function amountOf(call: TokenCall): string {
  return mayBeOfNft(call)
    ? `${plainAmount(call)}, or the NFT with the number ${grouped(call.amount)}`
    : plainAmount(call);
}

function plainAmount(call: TokenCall): string {
  if (call.action === 'setApprovalForAll') return call.amount === 0n ? 'none' : 'all';
  return isWithoutLimit(call) ? 'an unlimited amount' : `${grouped(call.amount)} smallest units`;
}

/** True for a call that has the same form for an amount (ERC-20) and for an NFT, by its number (ERC-721). */
function mayBeOfNft({ action }: TokenCall): boolean {
  return action === 'approve' || action === 'transferFrom';
}

/** True for a call that lets a spender take all tokens of a kind. */
function isWithoutLimit({ action, amount }: TokenCall): boolean {
  if (action === 'setApprovalForAll') return amount !== 0n;
  return (action === 'approve' || action === 'increaseAllowance') && amount >= UNLIMITED;
}

function withoutLimitWords(call: TokenCall): string {
  const words = 'It allows the spender to take all of this token that you have, now and later';
  return mayBeOfNft(call) ? `${words}. If the token is an NFT, only the one with this number.` : `${words}.`;
}

/** Returns the warnings that a request deserves on its own, whatever wallet is connected. */
export function warningsOf(request: PendingRequest): readonly string[] {
  if (request.kind === 'signature') return signatureWarnings(request);
  const call = readTokenCall(request.data);
  if (call === null) return [];
  return [
    ...(isWithoutLimit(call) ? [withoutLimitWords(call)] : []),
    ...(call.isWellFormed
      ? []
      : ['Its data is not a well-formed call of this kind, which contracts may take all the same.']),
  ];
}
