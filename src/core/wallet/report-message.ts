import { isDeeperThan, isJsonObject, type JsonObject, type JsonValue } from '../model/json.js';
import type { WalletClaim, WalletPayload } from '../model/wallet-request.js';
import { tameError } from './request-words.js';

/** A message that a client sends outside the conversation, as the service understands it. */
export type ReportMessage =
  /** The wallet has changed: a patch of the user state in flat keys. */
  | { readonly kind: 'wallet_changed'; readonly patch: JsonObject }
  /** The outcome of wallet requests. */
  | {
      readonly kind: 'outcome';
      readonly of: WalletPayload['kind'];
      readonly ids: readonly number[];
      readonly claim: WalletClaim;
      /** True if a hash or a signature was given that is none. */
      readonly isMalformed: boolean;
    }
  /** A report about wallets without usable content. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'note' };

const NOTHING: ReportMessage = { kind: 'nothing' };
const NOTE: ReportMessage = { kind: 'note' };
const MAX_DEPTH = 32;
/** More ids than can be pending. */
const MAX_IDS = 100;
const MAX_ADDRESS = 128;
const MAX_NAME = 255;
const HASH = /^0x[0-9a-f]{64}$/i;
/** Signatures of contract wallets can hold the calldata that deploys the wallet (ERC-6492). */
const SIGNATURE = /^0x(?:[0-9a-f]{2}){1,16384}$/i;
const CHAIN = /^(?:\d{1,16}|0x[0-9a-f]{1,14})$/i;

/**
 * Reads a message: text, or JSON `{type, payload}`. Never throws: what has an odd shape is a note, or nothing.
 * @param text of bounded length
 */
export function readReport(text: string): ReportMessage {
  const message = text.trimStart().startsWith('{') ? parsed(text) : undefined;
  if (message === undefined) return NOTE;
  const payload = isJsonObject(message.payload) ? message.payload : {};
  switch (message.type) {
    case 'wallet:state_changed':
      return walletChanged(payload);
    case 'wallet:tx_complete': {
      const ids = idsOf(payload.pending_tx_ids ?? payload.pending_tx_id);
      return outcome('transaction', ids, payload, payload.txHash ?? payload.tx_hash);
    }
    case 'wallet_eip712_response':
      return outcome('signature', idsOf(payload.pending_eip712_id), payload, payload.signature);
    default:
      return NOTE;
  }
}

function outcome(
  of: WalletPayload['kind'],
  ids: readonly number[],
  { status, error }: JsonObject,
  proof: JsonValue | undefined,
): ReportMessage {
  if (ids.length === 0 || (status !== 'success' && status !== 'failed')) return NOTHING;
  const isGiven = proof !== undefined && proof !== null && proof !== '';
  const pattern = of === 'transaction' ? HASH : SIGNATURE;
  const valid = typeof proof === 'string' && pattern.test(proof) ? proof.toLowerCase() : null;
  const words = typeof error === 'string' ? tameError(error) : '';
  return {
    ...{ kind: 'outcome', of, ids },
    claim: { status, proof: valid, error: words === '' ? null : words },
    isMalformed: isGiven && valid === null,
  };
}

/** Returns ids given as numbers or decimal digits, without repetitions. */
function idsOf(given: JsonValue | undefined): readonly number[] {
  const items = Array.isArray(given) ? given.slice(0, MAX_IDS) : [given];
  const ids = items.map((item: JsonValue | undefined) =>
    typeof item === 'string' && /^\d{1,15}$/.test(item) ? Number(item) : item,
  );
  return [...new Set(ids.filter((id) => typeof id === 'number'))].filter(
    (id) => Number.isSafeInteger(id) && id >= 1,
  );
}

/** Fields that the user state cannot take are left out. */
function walletChanged(payload: JsonObject): ReportMessage {
  const { address, ens_name: name } = payload;
  const chain = payload.chainId === undefined ? payload.chain_id : payload.chainId;
  const isConnected = payload.isConnected === undefined ? payload.is_connected : payload.isConnected;
  const patch: JsonObject = {
    ...(isTextOrNull(address, MAX_ADDRESS) && { address }),
    ...(isChainOrNull(chain) && { chain_id: chain }),
    ...((typeof isConnected === 'boolean' || isConnected === null) && { is_connected: isConnected }),
    ...(isTextOrNull(name, MAX_NAME) && { ens_name: name }),
  };
  return Object.keys(patch).length === 0 ? NOTHING : { kind: 'wallet_changed', patch };
}

function isTextOrNull(value: JsonValue | undefined, length: number): value is string | null {
  return value === null || (typeof value === 'string' && value.length <= length);
}

function isChainOrNull(value: JsonValue | undefined): value is string | number | null {
  if (typeof value === 'string') return CHAIN.test(value);
  return value === null || (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0);
}

/** Returns a JSON object of bounded depth; undefined: the text is none. */
function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && !isDeeperThan(value, MAX_DEPTH) ? value : undefined;
  } catch {
    return undefined;
  }
}
