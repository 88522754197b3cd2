import {
  encodeDeployData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  recoverAddress,
  type Address,
  type Hex,
} from 'viem';
import { revertOf } from '../abi/reverts.js';
import type { Client } from '../rpc/client.js';
import { ResponseFieldError } from '../rpc/response-fields.js';

/** In characters: 16 KiB in hex, because a signature can hold the calldata that deploys its wallet (ERC-6492). */
const MAX_SIGNATURE = 2 + 2 * 16_384;
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
 * ERC-6492). The chain runs the validator of ERC-6492; a revert means that it does not accept the signature.
 * @throws an error of the client when the node does not answer, or refuses to run it
 */
export async function isOfContract(
  client: Client,
  address: Address,
  hash: Hex,
  signature: Hex,
): Promise<boolean> {
  if (signature.toLowerCase().endsWith(DELEGATION_END)) return false;
  const data = encodeDeployData({
    abi: erc6492SignatureValidatorAbi,
    bytecode: erc6492SignatureValidatorByteCode,
    args: [address, hash, signature],
  });
  try {
    const verdict = await client.call({ data });
    return readVerdict(verdict.data);
  } catch (error) {
    if (revertOf(error) === undefined) throw error;
    return false;
  }
}

/** Reads what the validator returns: a byte, or a word, that is 0 or 1. @throws ResponseFieldError */
function readVerdict(data: Hex | undefined): boolean {
  if (data !== undefined && /^0x0*[01]$/.test(data)) return data.endsWith('1');
  throw new ResponseFieldError('The verdict about a signature is malformed');
}
