import type { Client, PendingRequest, SessionEvent, WalletReport } from '../../client/index.js';
import type { Display } from './display.js';
import { requestLines, signingLines } from './what-to-sign.js';

/** The part of the chat that these commands use. */
export interface WalletRoom {
  readonly display: Display;
  /** The client of the current surface, which has the wallet requests. */
  readonly wallet: () => Client;
  /** Reports an outcome, and shows the turn that follows. */
  report(report: WalletReport): Promise<void>;
}

/** The forms of `/tx`, each with what it does. */
export const TX_USAGE: readonly (readonly [string, string])[] = [
  ['/tx', 'lists what waits for your wallet'],
  ['/tx show ID', 'prints exactly what to sign, for a wallet of your own'],
  ['/tx done ID HASH', 'reports the transaction that your wallet has sent'],
  ['/tx signed ID SIGNATURE', 'reports a signature'],
  ['/tx reject ID [REASON]', 'reports that you did not sign'],
];

/** What can be done with requests. */
export const TX_HINT = '/tx show ID prints what to sign; /tx done, signed or reject reports the outcome.';

const HASH = /^0x[0-9a-f]{64}$/i;
const SIGNATURE = /^0x(?:[0-9a-f]{2}){64,16384}$/i;
/** 32 bytes in hex, with or without prefix. */
const LIKE_A_KEY = /(?<![0-9a-z])(?:0x)?[0-9a-f]{64}(?![0-9a-z])/i;
const KEY_WARNING =
  'Nothing was sent. This looks like a private key: never give one to a chat. If it is one, move your funds to a new key.';

/** True for a line that may hold a private key, which the input history must not keep. */
export function mayHoldKey(line: string): boolean {
  return /^\s*\/tx\s/.test(line) && LIKE_A_KEY.test(line);
}

/** Runs `/tx …`. */
export async function runTx(room: WalletRoom, argument: string): Promise<void> {
  const [verb = '', id = '', ...rest] = argument.split(/\s+/).filter((word) => word !== '');
  const given = rest.join(' ');
  switch (verb) {
    case '':
      await listPending(room);
      return;
    case 'show':
      for (const line of await signingLines(await pendingOne(room, id))) room.display.aside(line);
      return;
    case 'done':
      await room.report(await sentReport(room, id, given));
      return;
    case 'signed':
      await room.report(await signedReport(room, id, given));
      return;
    case 'reject':
      await room.report(await rejection(room, id, given));
      return;
    default:
      throw new Error(`/tx has no ${JSON.stringify(verb)}; it has show, done, signed and reject. See /help.`);
  }
}

/** Lists the requests that wait for the wallet. */
export async function listPending({
  display,
  wallet,
}: Pick<WalletRoom, 'display' | 'wallet'>): Promise<void> {
  const pending = await wallet().pending();
  if (pending.length === 0) display.aside('Nothing waits for your wallet.');
  else showPending(display, pending, TX_HINT);
}

/** Shows requests, and what can be done with them. */
export function showPending(display: Display, pending: readonly PendingRequest[], hint: string): void {
  display.aside('Waiting for your wallet:');
  for (const line of pending.flatMap(requestLines)) display.aside(`  ${line}`);
  display.aside(hint);
}

async function sentReport(room: WalletRoom, id: string, hash: string): Promise<WalletReport> {
  if (!HASH.test(hash)) {
    if (LIKE_A_KEY.test(hash)) throw new Error(KEY_WARNING);
    throw new Error('/tx done ID HASH takes a transaction hash: 0x and 64 hex digits.');
  }
  const request = await pendingOne(room, id, 'transaction');
  return {
    type: 'wallet:tx_complete',
    payload: { status: 'success', txHash: hash, pending_tx_ids: [request.id] },
  };
}

async function signedReport(room: WalletRoom, id: string, signature: string): Promise<WalletReport> {
  if (!SIGNATURE.test(signature)) {
    if (LIKE_A_KEY.test(signature)) throw new Error(KEY_WARNING);
    throw new Error('/tx signed ID SIGNATURE takes a signature: 0x and at least 128 hex digits.');
  }
  const request = await pendingOne(room, id, 'signature');
  return {
    type: 'wallet_eip712_response',
    payload: { status: 'success', signature, pending_eip712_id: request.id },
  };
}

async function rejection(room: WalletRoom, id: string, reason: string): Promise<WalletReport> {
  if (LIKE_A_KEY.test(reason)) throw new Error(KEY_WARNING);
  const request = await pendingOne(room, id);
  const error = reason === '' ? 'Rejected in the terminal' : reason;
  return request.kind === 'transaction'
    ? { type: 'wallet:tx_complete', payload: { status: 'failed', error, pending_tx_ids: [request.id] } }
    : { type: 'wallet_eip712_response', payload: { status: 'failed', error, pending_eip712_id: request.id } };
}

async function pendingOne(
  { wallet }: Pick<WalletRoom, 'wallet'>,
  id: string,
  kind?: PendingRequest['kind'],
): Promise<PendingRequest> {
  if (!/^\d{1,15}$/.test(id)) throw new Error('Give the number of a request. /tx lists them.');
  const found = (await wallet().pending()).find((request) => request.id === Number(id));
  if (found === undefined) throw new Error(`No request ${id} waits for your wallet. /tx lists what does.`);
  if (kind !== undefined && found.kind !== kind) {
    const way = found.kind === 'transaction' ? 'a transaction: use /tx done' : 'a message: use /tx signed';
    throw new Error(`Request ${id} is ${way}.`);
  }
  return found;
}

/** The tools that ask the wallet. */
const WALLET_TOOLS = new Set(['request_transactions', 'request_signature']);

/** True for an event after which a request may wait for the wallet. */
export function asksWallet(event: SessionEvent): boolean {
  return event.type === 'tool' && event.status === 'complete' && WALLET_TOOLS.has(event.name);
}
