import { formatUnits, parseUnits } from '../model/amount.js';
import { isJsonObject, type JsonValue } from '../model/json.js';
import type { SignaturePayload, WalletPolicy } from '../model/wallet-request.js';
import type { ChainInfo } from '../ports/chains.js';
import { accountActionIn } from './account-actions.js';

/** A transaction to check. */
export interface PlannedTransaction {
  /** A lower-case address. */
  readonly to: string;
  /** In wei. */
  readonly value: bigint;
  /** `0x` and hex digits. */
  readonly data: string;
}

/** A function whose calls give tokens, or the right to take them, to an address. */
interface TokenFunction {
  readonly name: string;
  /** The index of that address among the arguments. */
  readonly receiver: number;
}

/** By selector. */
const TOKEN_FUNCTIONS: ReadonlyMap<string, TokenFunction> = new Map([
  ['0xa9059cbb', { name: 'transfer', receiver: 0 }],
  ['0x23b872dd', { name: 'transferFrom', receiver: 1 }],
  ['0x095ea7b3', { name: 'approve', receiver: 0 }],
  ['0x39509351', { name: 'increaseAllowance', receiver: 0 }],
  ['0xa22cb465', { name: 'setApprovalForAll', receiver: 0 }],
  ['0xd73dd623', { name: 'increaseApproval', receiver: 0 }],
  // ERC-2612, and that of Dai.
  ['0xd505accf', { name: 'permit', receiver: 1 }],
  ['0x8fcbaf0c', { name: 'permit', receiver: 1 }],
  // ERC-677 and ERC-1363, without and with data.
  ['0x1296ee62', { name: 'transferAndCall', receiver: 0 }],
  ['0x4000aea0', { name: 'transferAndCall', receiver: 0 }],
  ['0xd8fbe994', { name: 'transferFromAndCall', receiver: 1 }],
  ['0xc1d34b89', { name: 'transferFromAndCall', receiver: 1 }],
  ['0x3177029f', { name: 'approveAndCall', receiver: 0 }],
  ['0xcae9ca51', { name: 'approveAndCall', receiver: 0 }],
  // ERC-721, without and with data; ERC-1155, of one token and of many.
  ['0x42842e0e', { name: 'safeTransferFrom', receiver: 1 }],
  ['0xb88d4fde', { name: 'safeTransferFrom', receiver: 1 }],
  ['0xf242432a', { name: 'safeTransferFrom', receiver: 1 }],
  ['0x2eb2c2d6', { name: 'safeBatchTransferFrom', receiver: 1 }],
]);
/** Names of fields in typed data that give an address tokens, or the right to take them (ERC-2612, ERC-3009). */
const FAVORED = new Set(['spender', 'operator', 'to', 'recipient', 'receiver']);
/** The hex digits of a selector with `0x`, and those of an argument. */
const SELECTOR_LENGTH = 10;
const ARGUMENT_LENGTH = 64;
const DAY_MS = 86_400_000;

/** Explains why an App must not ask for a transaction, in words for the assistant. Undefined: it may. */
export function transactionProblem(
  policy: WalletPolicy,
  chain: ChainInfo,
  { to, value, data }: PlannedTransaction,
): string | undefined {
  const wrongChain = chainProblem(policy, chain);
  if (wrongChain !== undefined) return wrongChain;
  const { recipients, maxValue } = policy;
  if (recipients !== null) {
    if (!recipients.includes(to)) return `This App may not send transactions to ${to}`;
    const receiver = tokenReceiver(data);
    if (receiver === 'malformed') return 'The calldata is not a well-formed call of a token';
    if (receiver !== undefined && !recipients.includes(receiver))
      return `This App may not give tokens, or an allowance, to ${receiver}`;
  }
  if (maxValue !== null && value > limitOf(maxValue, chain)) {
    const given = `${formatUnits(value, chain.decimals)} ${chain.symbol}`;
    return `The value ${given} is more than the ${maxValue} ${chain.symbol} that this App may send at once`;
  }
  return undefined;
}

/** Explains why an App must not ask for a signature. Undefined: it may. */
export function signatureProblem(
  policy: WalletPolicy,
  chain: ChainInfo,
  payload: SignaturePayload,
): string | undefined {
  const wrongChain = chainProblem(policy, chain);
  if (wrongChain !== undefined) return wrongChain;
  const { recipients, maxValue, maxDailyValue } = policy;
  if (recipients === null && maxValue === null && maxDailyValue === null) return undefined;
  const action = accountActionIn(payload);
  if (action !== undefined)
    return `This App has limits, which cannot be checked for this signature: ${action}`;
  if (recipients === null || payload.typedData === null) return undefined;
  const { domain, message } = payload.typedData;
  const contract = isJsonObject(domain) ? domain.verifyingContract : undefined;
  const parties = [...(typeof contract === 'string' ? [contract] : []), ...favoredIn(message ?? null)];
  const stranger = parties.find((party) => !recipients.includes(party.toLowerCase()));
  return stranger && `This App may not ask for signatures that concern ${stranger}`;
}

/** Returns how much of the native currency may be asked for in a day, in wei. Undefined: there is no limit. */
export function dailyLimit({ maxDailyValue }: WalletPolicy, chain: ChainInfo): bigint | undefined {
  return maxDailyValue === null ? undefined : limitOf(maxDailyValue, chain);
}

/** Words for a request that would exceed the day's limit. */
export function overDaily(policy: WalletPolicy, chain: ChainInfo, used: bigint): string {
  const spent = `${formatUnits(used, chain.decimals)} ${chain.symbol}`;
  const most = `${policy.maxDailyValue ?? '0'} ${chain.symbol}`;
  return `This App may ask a wallet for ${most} a day on ${chain.name}, and has asked for ${spent} today`;
}

/** Returns the beginning of the day (UTC), in milliseconds since the epoch. */
export function startOfDay(now: number): number {
  return now - (((now % DAY_MS) + DAY_MS) % DAY_MS);
}

function chainProblem({ chains }: WalletPolicy, { id, name }: ChainInfo): string | undefined {
  return chains === null || chains.includes(id) ? undefined : `This App may not use the chain ${name}`;
}

/** Converts a limit to wei. A limit that the currency cannot express allows nothing. */
function limitOf(limit: string, { decimals }: ChainInfo): bigint {
  return parseUnits(limit, decimals) ?? 0n;
}

/** Returns the address that a call of a token favors. Undefined: it is no such call. */
function tokenReceiver(data: string): string | undefined {
  const called = TOKEN_FUNCTIONS.get(data.slice(0, SELECTOR_LENGTH).toLowerCase());
  if (called === undefined) return undefined;
  const start = SELECTOR_LENGTH + called.receiver * ARGUMENT_LENGTH;
  const word = data.slice(start, start + ARGUMENT_LENGTH).toLowerCase();
  // Some contracts ignore the upper bytes, others refuse them.
  return /^0{24}[0-9a-f]{40}$/.test(word) ? `0x${word.slice(24)}` : 'malformed';
}

/** Iterative, so that no depth can exhaust the call stack. */
function favoredIn(message: JsonValue): string[] {
  const found: string[] = [];
  for (let level = [message]; level.length > 0;) {
    level = level.flatMap((item) => {
      if (typeof item !== 'object' || item === null) return [];
      if (!isJsonObject(item)) return item;
      for (const [name, value] of Object.entries(item)) {
        if (FAVORED.has(name) && typeof value === 'string') found.push(value);
      }
      return Object.values(item);
    });
  }
  return found;
}
