import {
  formatGwei,
  formatUnits,
  isHash,
  size,
  TransactionNotFoundError,
  TransactionReceiptNotFoundError,
} from 'viem';
import { timeOf } from './blocks.js';
import { ChainError } from '../chain-error.js';
import { chainFields, decimalsOf, unitOf } from '../chains.js';
import { chainOf } from '../rpc/faults.js';
import type { Action } from '../scope.js';
import { shown } from '../words.js';

const MAX_DATA = 2_050;

/** `{hash}` → a transaction and its outcome; `status` is `success`, `reverted` or `pending`. */
export const getTransaction: Action = async (args, { client, chain }) => {
  const hash = typeof args.hash === 'string' ? args.hash.trim() : '';
  if (!isHash(hash)) throw new ChainError(`hash: must be 0x and 64 hex digits, not ${shown(args.hash)}.`);
  const [transaction, receipt, newest] = await Promise.all([
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
  const coins = (wei: bigint): string => formatUnits(wei, decimalsOf(chain));
  const { input, value } = transaction;
  const block = receipt === null ? null : await client.getBlock({ blockNumber: receipt.blockNumber });
  return {
    hash,
    status: receipt?.status ?? 'pending',
    from: transaction.from,
    to: transaction.to,
    ...(receipt?.contractAddress ? { contract_created: receipt.contractAddress } : {}),
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
