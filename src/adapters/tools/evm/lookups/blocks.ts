import { BlockNotFoundError, formatGwei, isHash, type GetBlockParameters } from 'viem';
import type { JsonValue } from '../../../../core/model/json.js';
import { ChainError } from '../chain-error.js';
import { chainFields } from '../chains.js';
import { chainOf } from '../rpc/faults.js';
import type { Client } from '../rpc/client.js';
import { checkHash, readAddress, readHash, ResponseFieldError } from '../rpc/response-fields.js';
import type { Action } from '../scope.js';
import { shown } from '../words.js';

/** Nodes store gas in 64 bits; EIP-1985 limits it to 63 bits. */
const MAX_GAS = 2n ** 64n - 1n;

const TAGS = ['latest', 'safe', 'finalized', 'earliest', 'pending'] as const;

/** `{block?}` → a block by number, hash or tag; default: the latest. */
export const getBlock: Action = async (args, { client, chain }) => {
  const which = blockOf(args.block);
  const block = await readBlock(client, which).catch((error: unknown) => {
    if (!chainOf(error).some((cause) => cause instanceof BlockNotFoundError)) throw error;
    throw new ChainError(`There is no block ${shown(args.block)} on ${chain.name}.`, { cause: error });
  });
  return {
    number: numberOf(block.number),
    hash: ifPresent(block.hash, readHash),
    timestamp: timeOf(block.timestamp),
    transactions: block.transactions.length,
    gas_used: gasOf(block.gasUsed),
    gas_limit: gasOf(block.gasLimit),
    base_fee_gwei: block.baseFeePerGas === null ? null : formatGwei(block.baseFeePerGas),
    miner: ifPresent(block.miner, readAddress),
    parent_hash: readHash(block.parentHash),
    ...chainFields(chain),
  };
};

/** `{}` → the current gas price and fees. */
export const getGasPrice: Action = async (_args, { client, chain }) => {
  const [price, block] = await Promise.all([client.getGasPrice(), client.getBlock()]);
  const base = block.baseFeePerGas;
  const priority = base === null ? null : await client.estimateMaxPriorityFeePerGas();
  return {
    text: `Gas on ${chain.name} costs ${formatGwei(price)} gwei.`,
    gas_price: formatGwei(price),
    unit: 'gwei',
    wei: String(price),
    base_fee: base === null ? null : formatGwei(base),
    priority_fee: priority === null ? null : formatGwei(priority),
    ...chainFields(chain),
    block: Number(block.number),
  };
};

/** Reads a block. @throws ResponseFieldError when the node returns another one */
export async function readBlock(client: Client, which: GetBlockParameters) {
  const block = await client.getBlock(which);
  const { blockHash, blockNumber } = which;
  if (blockHash !== undefined) checkHash(block.hash, blockHash);
  if (blockNumber !== undefined && block.number !== blockNumber)
    throw new ResponseFieldError('The response has another block number');
  return block;
}

/** Formats a block's time, in seconds since the epoch, as ISO 8601. */
export function timeOf(seconds: bigint): string {
  return new Date(Number(seconds) * 1000).toISOString();
}

/** A pending block has no number yet, whatever the types say. */
function numberOf(number: bigint | null): number | null {
  return number === null ? null : Number(number);
}

/** Reads a field that a pending block may lack, such as its hash or miner. */
function ifPresent(value: string | null, read: (value: string) => string): string | null {
  return value === null ? null : read(value);
}

/** @throws ResponseFieldError when the quantity is missing or exceeds `MAX_GAS` */
function gasOf(gas: bigint | undefined): string {
  if (gas !== undefined && gas <= MAX_GAS) return String(gas);
  throw new ResponseFieldError('A quantity of gas is malformed');
}

function blockOf(given: JsonValue | undefined) {
  const text =
    typeof given === 'string'
      ? given.trim().toLowerCase()
      : JSON.stringify(given ?? 'latest').replaceAll('"', '');
  const blockTag = TAGS.find((tag) => tag === text);
  if (blockTag !== undefined) return { blockTag };
  if (isHash(text)) return { blockHash: text };
  if (/^(?:\d{1,15}|0x[0-9a-f]{1,12})$/.test(text)) return { blockNumber: BigInt(text) };
  throw new ChainError(`block: must be a number, a hash, or one of ${TAGS.join(', ')}, not ${shown(given)}.`);
}
