import type { PendingRequest } from '../../../../client/pending.js';
import { shortAddress } from '../address.js';
import { grouped } from '../amounts.js';
import { readTokenCall, UNLIMITED, type TokenCall } from './calldata.js';
import { chainName, nativeAmount } from '../chains.js';

/**
 * Returns what a request does, in one line. Made of the facts alone: the label is the assistant's, which a stranger may
 * have led.
 * @param amount the amount of the native currency with its symbol, if the service sent it
 */
export function titleOf(request: PendingRequest, amount: string | null): string {
  if (request.kind === 'signature') return request.typedData === null ? 'Sign a text' : 'Sign typed data';
  const { to, value, data, chainId } = request;
  const sent = amount ?? nativeAmount(value, chainId);
  if (data === '0x') return `Send ${sent} to ${shortAddress(to)}`;
  const call = readTokenCall(data);
  const paid = value === 0n ? '' : ` and send ${sent}`;
  return call === null
    ? `Call the contract ${shortAddress(to)}${paid}`
    : `${tokenTitle(call)} of token ${shortAddress(to)}${paid}`;
}

function tokenTitle(call: TokenCall): string {
  const amount = amountOf(call);
  if (call.action === 'approve') return `Allow ${shortAddress(call.to)} to spend ${amount}`;
  const from = call.from === null ? '' : ` from ${shortAddress(call.from)}`;
  return `Transfer ${amount}${from} to ${shortAddress(call.to)}`;
}

/** Returns the amount of a token call, whose decimals the page does not know. */
export function amountOf({ amount }: TokenCall): string {
  return amount >= UNLIMITED ? 'an unlimited amount' : `${grouped(amount)} smallest units`;
}

/** Returns the warnings that a request deserves on its own, whatever wallet is connected. */
export function warningsOf(request: PendingRequest): readonly string[] {
  if (request.kind === 'signature') return typedDataWarnings(request);
  const call = readTokenCall(request.data);
  if (call?.action !== 'approve' || call.amount < UNLIMITED) return [];
  return ['It allows the spender to take all of this token that you have, now and later.'];
}

function typedDataWarnings(request: Extract<PendingRequest, { kind: 'signature' }>): readonly string[] {
  const domain = request.typedData?.domain;
  const named =
    typeof domain === 'object' && domain !== null && !Array.isArray(domain) ? domain.chainId : undefined;
  const isOther =
    named !== undefined && named !== null && String(BigIntOf(named)) !== String(request.chainId);
  return isOther ? [`The message names another chain than ${chainName(request.chainId)}.`] : [];
}

function BigIntOf(value: unknown): bigint | null {
  const isNumber = typeof value === 'number' && Number.isSafeInteger(value);
  const isText = typeof value === 'string' && /^(0x[0-9a-f]{1,64}|\d{1,78})$/i.test(value);
  return isNumber || isText ? BigInt(value) : null;
}
