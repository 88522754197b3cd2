import { isObject, textOf, textOrNull, type JsonObject, type JsonValue } from './json.js';

/** A transaction that the assistant asks the person's wallet to send. */
export interface PendingTransaction {
  readonly kind: 'transaction';
  readonly id: number;
  readonly chainId: number;
  /** The address that has to send it; null: not known. */
  readonly from: string | null;
  readonly to: string;
  /** In wei. */
  readonly value: bigint;
  /** `0x` and hex digits. */
  readonly data: string;
  /** A gas limit that sufficed when the transaction was staged; null: not known. */
  readonly gas: string | null;
  readonly label: string;
}

/** A message that the assistant asks the person's wallet to sign. */
export interface PendingSignature {
  readonly kind: 'signature';
  readonly id: number;
  readonly chainId: number;
  /** The address that has to sign it; null: not known. */
  readonly from: string | null;
  readonly label: string;
  /** EIP-712 typed data; null if a text is to be signed. */
  readonly typedData: JsonObject | null;
  readonly text: string | null;
}

/** A request to the person's wallet that has no outcome yet. */
export type PendingRequest = PendingTransaction | PendingSignature;

const ADDRESS = /^0x[0-9a-f]{40}$/i;
const HEX = /^0x([0-9a-f]{2})*$/i;
const GAS = /^\d{1,20}$/;
const WEI = /^(0x[0-9a-f]{1,64}|\d{1,78})$/i;

/** Returns the wallet requests in a user state, by ascending id. Leaves out entries that no wallet could sign. */
export function pendingRequests(userState: JsonObject | null): readonly PendingRequest[] {
  const group = isObject(userState?.pending) ? userState.pending : undefined;
  const transactions = entriesOf(group?.evm_txs ?? userState?.pending_txs).flatMap(readTransaction);
  const signatures = entriesOf(group?.evm_sigs ?? userState?.pending_eip712s).flatMap(readSignature);
  return [...transactions, ...signatures].sort((a, b) => a.id - b.id);
}

function entriesOf(entries: JsonValue | undefined): readonly [number, JsonObject][] {
  if (!isObject(entries)) return [];
  return Object.entries(entries).flatMap(([key, entry]) => {
    const id = Number(key);
    return Number.isSafeInteger(id) && id > 0 && isObject(entry) ? [[id, entry]] : [];
  });
}

function readTransaction([id, entry]: [number, JsonObject]): readonly PendingTransaction[] {
  const { to, value = '0', data = '0x', gas } = entry;
  const chainId = chainOf(entry);
  const isSound = matches(to, ADDRESS) && matches(value, WEI) && matches(data, HEX);
  if (chainId === undefined || !isSound) return [];
  return [
    {
      ...{ kind: 'transaction', id, chainId, from: addressOf(entry.from), to, data },
      ...{ value: BigInt(value), gas: matches(gas, GAS) ? gas : null },
      label: textOf(entry, 'label'),
    },
  ];
}

function readSignature([id, entry]: [number, JsonObject]): readonly PendingSignature[] {
  const { typed_data: typedData, message } = entry;
  const chainId = chainOf(entry);
  const text = textOrNull(message);
  if (chainId === undefined || (!isObject(typedData) && text === null)) return [];
  return [
    {
      ...{ kind: 'signature', id, chainId, from: addressOf(entry.from) },
      label: textOf(entry, 'description'),
      ...(isObject(typedData) ? { typedData, text: null } : { typedData: null, text }),
    },
  ];
}

function chainOf({ chain_id: chainId }: JsonObject): number | undefined {
  return typeof chainId === 'number' && Number.isSafeInteger(chainId) && chainId > 0 ? chainId : undefined;
}

function addressOf(value: JsonValue | undefined): string | null {
  return matches(value, ADDRESS) ? value : null;
}

function matches(value: JsonValue | undefined, pattern: RegExp): value is string {
  return typeof value === 'string' && pattern.test(value);
}
