import {
  formatGwei,
  formatUnits,
  isHash,
  size,
  TransactionNotFoundError,
  TransactionReceiptNotFoundError,
} from 'viem';
import { readBlock, timeOf } from './blocks.js';
import { ChainError } from '../chain-error.js';
import { chainFields, decimalsOf, unitOf } from '../chains.js';
import { chainOf } from '../rpc/faults.js';
import {
  checkChain,
  checkHash,
  checkSender,
  readAddress,
  readBytes,
  readHash,
} from '../rpc/response-fields.js';
import type { Action } from '../scope.js';
import { shown } from '../words.js';

const MAX_DATA = 2_050;

/** `{hash}` → a transaction and its outcome; `status` is `success`, `reverted`, `pending` or, before 2017, `unknown`. */
export const getTransaction: Action = async (args, { client, chain }) => {
  const given = typeof args.hash === 'string' ? args.hash.trim() : '';
  if (!isHash(given)) throw new ChainError(`hash: must be 0x and 64 hex digits, not ${shown(args.hash)}.`);
  const hash = readHash(given);
  const [transaction, found, newest] = await Promise.all([
    client.getTransaction({ hash }).catch((error: unknown) => {
      if (!chainOf(error).some((cause) => cause instanceof TransactionNotFoundError)) throw error;
      throw new ChainError(`There is no transaction ${hash} on ${chain.name}.`, { cause: error });
    }),
    client.getTransactionReceipt({ hash }).catch((error: unknown) => {
      if (!chainOf(error).some((cause) => cause instanceof TransactionReceiptNotFoundError)) throw error;
      return null;
    }),
    client.getBlockNumber(),
  ]);
  checkHash(transaction.hash, hash);
  checkChain(transaction.chainId ?? 0, chain.id);
  const from = readAddress(transaction.from);
  if (found !== null) {
    checkHash(found.transactionHash, hash);
    checkSender(found.from, from);
  }
  const receipt = found !== null && isMined(found) ? found : null;
  const block = receipt === null ? null : await readBlock(client, { blockNumber: receipt.blockNumber });
  const coins = (wei: bigint): string => formatUnits(wei, decimalsOf(chain));
  const input = readBytes(transaction.input);
  const { value } = transaction;
  return {
    hash,
    status: receipt === null ? 'pending' : statusOf(receipt),
    from,
    to: transaction.to === null ? null : readAddress(transaction.to),
    ...(receipt?.contractAddress ? { contract_created: readAddress(receipt.contractAddress) } : {}),
    value: coins(value),
    unit: unitOf(chain),
    wei: String(value),
    nonce: transaction.nonce,
    data: input.length > MAX_DATA ? `${input.slice(0, MAX_DATA)}…` : input,
    data_bytes: size(input),
    ...(receipt !== null && {
      gas_used: String(receipt.gasUsed),
      gas_price_gwei: formatGwei(receipt.effectiveGasPrice),
      fee: coins(receipt.gasUsed * receipt.effectiveGasPrice),
      logs: receipt.logs.length,
      block: Number(receipt.blockNumber),
      confirmations: Math.max(1, Number(newest - receipt.blockNumber) + 1),
    }),
    ...(block !== null && { timestamp: timeOf(block.timestamp) }),
    ...chainFields(chain),
  };
};

/** Some nodes give a pending transaction a receipt without a block, whatever the types say. */
function isMined({ blockNumber }: { readonly blockNumber: bigint | null }): boolean {
  return blockNumber !== null;
}

/** Receipts before the Byzantium fork (2017) have no status, whatever the types say. */
function statusOf({ status }: { readonly status: string | null | undefined }): string {
  return status ?? 'unknown';
}
