import {
  AbiDecodingDataSizeTooSmallError,
  AbiDecodingZeroDataError,
  BaseError,
  ContractFunctionZeroDataError,
  decodeErrorResult,
  isHex,
  parseAbi,
  type AbiParameter,
  type Hex,
} from 'viem';
import { isJsonObject } from '../../../../core/model/json.js';
import { chainOf } from '../rpc/faults.js';
import { fieldsOf, toJson } from './values.js';
import { tamed } from '../words.js';

const PANICS: ReadonlyMap<bigint, string> = new Map([
  [0x01n, 'an assertion failed'],
  [0x11n, 'a number overflowed or underflowed'],
  [0x12n, 'division by zero'],
  [0x21n, 'a value is not one of its enumeration'],
  [0x22n, 'stored bytes are encoded wrongly'],
  [0x31n, 'an empty array was popped'],
  [0x32n, 'an index is out of bounds'],
  [0x41n, 'too much memory was allocated'],
  [0x51n, 'an unset function was called'],
]);
/** Characters of unknown revert data that are shown: `0x`, a selector and two words. */
const MAX_DATA = 2 + 8 + 128;
/** Characters of revert data that are decoded: 16 KiB in hex. */
const MAX_DECODED = 2 + 2 * 16_384;
const REVERTED = /revert/i;
const WITH_REASON = /execution reverted:? +(?<reason>.+)/s;

/** Common errors of contracts: ERC-6093 and errors of OpenZeppelin. */
const KNOWN = parseAbi([
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
  'error ERC20InvalidSender(address sender)',
  'error ERC20InvalidReceiver(address receiver)',
  'error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
  'error ERC20InvalidApprover(address approver)',
  'error ERC20InvalidSpender(address spender)',
  'error ERC721InvalidOwner(address owner)',
  'error ERC721NonexistentToken(uint256 tokenId)',
  'error ERC721IncorrectOwner(address sender, uint256 tokenId, address owner)',
  'error ERC721InvalidReceiver(address receiver)',
  'error ERC721InsufficientApproval(address operator, uint256 tokenId)',
  'error ERC1155InsufficientBalance(address sender, uint256 balance, uint256 needed, uint256 tokenId)',
  'error ERC1155MissingApprovalForAll(address operator, address owner)',
  'error OwnableUnauthorizedAccount(address account)',
  'error AccessControlUnauthorizedAccount(address account, bytes32 neededRole)',
  'error EnforcedPause()',
  'error SafeERC20FailedOperation(address token)',
  'error ReentrancyGuardReentrantCall()',
]);

/** A contract's failure, with its reason if it gave one. */
export interface Revert {
  readonly data: Hex | null;
  readonly words: string | null;
}

/**
 * Extracts the revert from a client's error. A call that ended without one, as by an invalid instruction, counts too.
 * @returns undefined when neither the contract nor a missing one caused the error
 */
export function revertOf(error: unknown): Revert | undefined {
  const errors = chainOf(error);
  const data = errors.map(dataOf).find((found) => found !== undefined);
  const given: unknown = errors.find((found) => found instanceof BaseError)?.details;
  const details = typeof given === 'string' ? given : '';
  if (data !== undefined || REVERTED.test(details)) {
    return { data: data ?? null, words: WITH_REASON.exec(details)?.groups?.reason ?? null };
  }
  const halt = haltReason(details);
  if (halt !== undefined) return { data: null, words: halt };
  const empty = [ContractFunctionZeroDataError, AbiDecodingZeroDataError, AbiDecodingDataSizeTooSmallError];
  if (errors.some((found) => empty.some((kind) => found instanceof kind))) return { data: null, words: null };
  return undefined;
}

/**
 * Extracts the revert from a node's message and from data that may be the revert's: the first that is hex counts.
 * @returns undefined when neither says that a contract reverted
 */
export function revertFrom(message: string, data: readonly unknown[]): Revert | undefined {
  const found = data.find((candidate) => isHex(candidate) && candidate !== '0x');
  if (!isHex(found) && !REVERTED.test(message)) return undefined;
  return { data: isHex(found) ? found : null, words: WITH_REASON.exec(message)?.groups?.reason ?? null };
}

/**
 * Explains from a node's message why a call ended without a revert. The message is not passed on: it could be anything.
 * @returns undefined when the message says nothing of it
 */
export function haltReason(message: string): string | undefined {
  if (/out ?of ?gas/i.test(message)) return 'it runs out of gas';
  const isInvalid =
    /invalid ?(?:fe)?(?:opcode|jump)|opcode ?not ?found|stack ?(?:under|over)flow|stack limit/i;
  return isInvalid.test(message) ? 'it reaches an invalid instruction' : undefined;
}

/** Describes a revert's reason: its text, the meaning of a panic, or a known error with its fields. */
export function describeRevert({ data, words }: Revert): string {
  if (data !== null && data.length > MAX_DECODED) return 'an error that is too large to read';
  if (data !== null && data !== '0x') return decode(data) ?? `an unknown error, ${tamed(data, MAX_DATA)}`;
  return words === null ? 'without a reason' : tamed(words);
}

function decode(data: Hex): string | undefined {
  try {
    const { abiItem, errorName, args } = decodeErrorResult({ abi: KNOWN, data });
    const [first]: readonly unknown[] = args;
    if (errorName === ('Error' as string)) return tamed(String(first));
    if (errorName === ('Panic' as string) && typeof first === 'bigint') {
      return PANICS.get(first) ?? `panic ${String(first)}`;
    }
    const inputs: readonly AbiParameter[] = 'inputs' in abiItem ? abiItem.inputs : [];
    const fields = fieldsOf(inputs, args).map(([name, value]) => `${name}: ${JSON.stringify(toJson(value))}`);
    return tamed(`${errorName}(${fields.join(', ')})`);
  } catch {
    return undefined; // an unknown error
  }
}

/** Reads the revert data. Nodes put it in `data` or in `data.data`. */
function dataOf(error: unknown): Hex | undefined {
  if (typeof error !== 'object' || error === null || !('data' in error)) return undefined;
  const data = isJsonObject(error.data) ? error.data.data : error.data;
  return isHex(data) ? data : undefined;
}
