import type { Address, Hash } from 'viem';
import type { JsonValue } from '../../../../core/model/json.js';
import type { ChainTransaction } from '../../../../core/ports/chains.js';
import {
  checkChain,
  checkHash,
  checkSender,
  readAddress,
  readBytes,
  readCount,
  readHash,
  readObject,
  readQuantity,
  ResponseFieldError,
} from '../rpc/response-fields.js';
import type { ChainScope } from '../scope.js';

/**
 * Finds a transaction and its receipt; undefined: the chain does not know the hash, or the text is no hash.
 * @throws ResponseFieldError when what the node returns is malformed, or about another transaction or chain
 */
export async function findTransaction(
  { client, chain }: ChainScope,
  text: string,
): Promise<ChainTransaction | undefined> {
  if (!/^0x[0-9a-f]{64}$/i.test(text)) return undefined;
  const hash = readHash(text);
  const [transaction, receipt]: readonly unknown[] = await Promise.all([
    client.request({ method: 'eth_getTransactionByHash', params: [hash] }),
    client.request({ method: 'eth_getTransactionReceipt', params: [hash] }),
  ]);
  if (transaction === null || transaction === undefined) return undefined;
  const fields = readObject(transaction);
  checkHash(fields.hash, hash);
  const { chainId } = fields;
  checkChain(chainId === null || chainId === undefined ? 0 : Number(readQuantity(chainId)), chain.id);
  const from = readAddress(fields.from);
  return {
    from,
    to: fields.to === null || fields.to === undefined ? null : readAddress(fields.to),
    value: String(readQuantity(fields.value)),
    data: readBytes(fields.input ?? fields.data),
    nonce: readCount(fields.nonce),
    delegates: hasEntries(fields.authorizationList),
    receipt: readReceipt(receipt, hash, from),
  };
}

/** Absent in transactions of other types than that of EIP-7702. */
function hasEntries(list: JsonValue | undefined): boolean {
  if (list === null || list === undefined) return false;
  if (!Array.isArray(list)) throw new ResponseFieldError('A list is malformed');
  return list.length > 0;
}

/** Null: there is none, or it is one of a block that is not mined yet. */
function readReceipt(receipt: unknown, hash: Hash, from: Address): ChainTransaction['receipt'] {
  if (receipt === null || receipt === undefined) return null;
  const { transactionHash, blockNumber, status, gasUsed, ...fields } = readObject(receipt);
  checkHash(transactionHash, hash);
  checkSender(fields.from, from);
  if (blockNumber === null || blockNumber === undefined) return null;
  const outcome = readQuantity(status);
  if (outcome > 1n) throw new ResponseFieldError('The status is neither 0 nor 1');
  return {
    succeeded: outcome === 1n,
    blockNumber: String(readCount(blockNumber)),
    gasUsed: String(readCount(gasUsed)),
  };
}
