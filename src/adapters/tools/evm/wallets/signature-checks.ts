import { recoverAddress, type Address, type Hex } from 'viem';
import type { Client } from '../rpc/client.js';

/** In characters. Generous, because the signature of a contract wallet can be long. */
const MAX_SIGNATURE = 8_192;
/** The last 32 bytes of a signature that carries its own delegation (ERC-8010), which is not yet on the chain. */
const DELEGATION_END = '8010'.repeat(16);

/** Whether a text can be a signature: whole bytes in hex, of bounded length. */
export function isSignature(text: string): text is Hex {
  return text.length <= MAX_SIGNATURE && /^0x(?:[0-9a-f]{2})+$/i.test(text);
}

/** Whether the key of an address signed a hash. @param address in any case */
export async function isOfKey(address: Address, hash: Hex, signature: Hex): Promise<boolean> {
  // 65 bytes for r, s and v; any other length belongs to a contract.
  if (signature.length !== 132) return false;
  try {
    return (await recoverAddress({ hash, signature })).toLowerCase() === address.toLowerCase();
  } catch {
    return false;
  }
}

/**
 * Whether the contract at an address, or the one that will be deployed there, accepts a signature of a hash (ERC-1271,
 * ERC-6492).
 * @throws an error of the client when the node does not answer
 */
export async function isOfContract(
  client: Client,
  address: Address,
  hash: Hex,
  signature: Hex,
): Promise<boolean> {
  if (signature.toLowerCase().endsWith(DELEGATION_END)) return false;
  // A malformed signature and an unreachable chain fail alike. `getBlockNumber` tells them apart: it throws for the
  // latter.
  const isAccepted = await client.verifyHash({ address, hash, signature }).catch(() => false);
  if (!isAccepted) await client.getBlockNumber();
  return isAccepted;
}
