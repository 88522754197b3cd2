import { formatUnits, parseUnits, parseWei } from '../model/amount.js';
import type { JsonObject, JsonValue } from '../model/json.js';
import { flatUserState, type UserState } from '../model/user-state.js';
import type { TransactionPayload, WalletPolicy } from '../model/wallet-request.js';
import type { ChainInfo, Chains } from '../ports/chains.js';
import { tameLabel } from './request-words.js';

/** The arguments of `stage_transaction`, which its schema has checked. */
export interface TransactionOrder {
  /** An address, a name, or the symbol of a token. */
  readonly to: string;
  readonly value: string | undefined;
  readonly data: string | undefined;
  /** The signature of a function, in place of `data`. */
  readonly function: string | undefined;
  readonly args: readonly JsonValue[];
  readonly chainId: number | undefined;
  readonly label: string | undefined;
  /** Ids of staged transactions that come first. */
  readonly after: readonly number[];
}

/** A transaction with every name resolved. */
export interface Transaction {
  /** A lower-case address. */
  readonly to: string;
  /** In wei. */
  readonly value: bigint;
  /** `0x` and lower-case hex digits. */
  readonly data: string;
  readonly label: string;
}

const MAX_DATA = 131_072;

/** @throws Error in words for the assistant */
export async function resolveOrder(
  order: TransactionOrder,
  chain: ChainInfo,
  chains: Pick<Chains, 'resolveAddress' | 'encodeCall'>,
  signal: AbortSignal,
): Promise<Transaction> {
  const value = valueOf(order.value, chain);
  const to = await chains.resolveAddress(chain.id, order.to, signal);
  const data = await dataOf(order, chain, chains, signal);
  const given = tameLabel(order.label ?? '');
  const label = given === '' ? defaultLabel({ to, value, data }, order.function, chain) : given;
  return { to, value, data, label };
}

/**
 * Chooses the chain of a request: the given one, else the one that the wallet is connected to, else the first that the
 * App may use.
 * @throws Error in words for the assistant
 */
export function chooseChain(
  configured: readonly ChainInfo[],
  wanted: number | undefined,
  { policy, userState }: { readonly policy: WalletPolicy; readonly userState: UserState | null },
): ChainInfo {
  if (wanted !== undefined) return chainWith(configured, wanted);
  const connected = configured.find(({ id }) => id === flatUserState(userState).chainId);
  const allowed = configured.find(({ id }) => policy.chains?.includes(id) ?? true);
  const chain = connected ?? allowed ?? configured[0];
  if (chain === undefined) throw new Error('No chain is configured');
  return chain;
}

/** @throws Error in words for the assistant when the chain is not configured */
export function chainWith(configured: readonly ChainInfo[], wanted: number): ChainInfo {
  const chain = configured.find(({ id }) => id === wanted);
  if (chain !== undefined) return chain;
  const known = configured.map(({ id, name }) => `${String(id)} (${name})`).join(', ');
  throw new Error(`The chain ${String(wanted)} is not configured; there are ${known}`);
}

/** Shows calldata or return data, shortened to about 1,000 characters. */
export function shortHex(hex: string): string {
  return hex.length <= 1_000 ? hex : `${hex.slice(0, 1_000)}… (${String((hex.length - 2) / 2)} bytes)`;
}

/** Returns the recipient, the value and the data of a transaction as the assistant reads them. */
export function shownTransaction(
  { to, value, data }: Pick<TransactionPayload, 'to' | 'value' | 'data'>,
  chain: ChainInfo,
): JsonObject {
  return {
    to,
    value: `${formatUnits(parseWei(value) ?? 0n, chain.decimals)} ${chain.symbol}`,
    value_wei: value,
    data: shortHex(data),
  };
}

function valueOf(given: string | undefined, chain: ChainInfo): bigint {
  if (given === undefined) return 0n;
  const [, amount = '', unit = ''] = /^\s*([\d.]{1,160})\s*([^\s\d.]\S*)?\s*$/.exec(given) ?? [];
  const isWei = unit.toLowerCase() === 'wei';
  const isNative = unit === '' || unit.toLowerCase() === chain.symbol.toLowerCase();
  const value = isWei ? parseWei(amount) : isNative ? parseUnits(amount, chain.decimals) : undefined;
  if (value !== undefined) return value;
  throw new Error(
    `value must be an amount of ${chain.symbol} with at most ${String(chain.decimals)} decimals, such as "0.01", or of wei, such as "123 wei"`,
  );
}

async function dataOf(
  { data, function: signature, args }: TransactionOrder,
  chain: ChainInfo,
  chains: Pick<Chains, 'encodeCall'>,
  signal: AbortSignal,
): Promise<string> {
  if (signature !== undefined && data !== undefined)
    throw new Error('Give either data, or function with args');
  if (signature !== undefined) return chains.encodeCall(chain.id, signature, args, signal);
  if (args.length > 0) throw new Error('args need a function');
  if (data === undefined) return '0x';
  if (data.length <= MAX_DATA && /^0x(?:[0-9a-f]{2})*$/i.test(data)) return data.toLowerCase();
  throw new Error('data must be 0x and an even number of hex digits');
}

function defaultLabel(
  { to, value, data }: Omit<Transaction, 'label'>,
  signature: string | undefined,
  { symbol, decimals }: ChainInfo,
): string {
  const amount = `${formatUnits(value, decimals)} ${symbol}`;
  if (data === '0x') return tameLabel(`send ${amount} to ${to}`);
  const name = /^\s*(?:function\s+)?(\w{1,40})\s*\(/.exec(signature ?? '')?.[1] ?? data.slice(0, 10);
  return tameLabel(`call ${name} of ${to}${value === 0n ? '' : ` with ${amount}`}`);
}
