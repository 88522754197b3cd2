import { hashMessage, type Address, type Hex } from 'viem';
import type { SignedPayload } from '../../../../core/ports/chains.js';
import type { Client } from '../rpc/client.js';
import { isOfContract, isOfKey, isSignature } from '../wallets/signature-checks.js';
import { hashTypedData } from './typed-data-hash.js';
import { readTypedData } from './typed-data.js';

/**
 * Whether an address signed text (EIP-191) or typed data (EIP-712): as a key, which needs no chain, else as a contract
 * (ERC-1271, or ERC-6492 before it is deployed) on the client's chain. False for what cannot be a signature.
 * @throws ChainError when the typed data is malformed
 * @throws an error of the client when the node does not answer
 */
export async function verifyPayload(
  client: Client,
  address: Address,
  payload: SignedPayload,
  signature: string,
): Promise<boolean> {
  if (!isSignature(signature)) return false;
  const hash = hashOf(payload);
  return (await isOfKey(address, hash, signature)) || isOfContract(client, address, hash, signature);
}

function hashOf(payload: SignedPayload): Hex {
  return payload.kind === 'text'
    ? hashMessage(payload.text)
    : hashTypedData(readTypedData(payload.typedData));
}
