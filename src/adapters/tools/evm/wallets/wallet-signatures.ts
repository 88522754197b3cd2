import { recoverMessageAddress, type Address, type Hex } from 'viem';
import type { WalletSignatures } from '../../../../core/ports/wallet-signatures.js';
import { openClient } from '../rpc/client.js';
import { createEndpoints } from '../rpc/endpoints.js';
import type { ChainSettings } from '../settings.js';
import { readSignInMessage } from './sign-in-message.js';

/** How long a contract wallet's chain may take to answer, in milliseconds. */
const CHAIN_MS = 15_000;
/** In characters. The signature of a contract wallet can be long. */
const MAX_SIGNATURE = 8_192;
/** The last 32 bytes of a signature that brings a delegation of its own (ERC-8010), which its chain does not have. */
const DELEGATION_END = '8010'.repeat(16);

/**
 * Reads and verifies sign-in messages (EIP-4361). The signature of a key (EIP-191) needs no chain; that of a contract
 * (ERC-1271, or ERC-6492 before it is deployed) is asked of the message's chain.
 * @param chains the chains whose contract wallets may sign in; no other one is asked
 */
export function walletSignatures(chains: readonly ChainSettings[]): WalletSignatures {
  const endpoints = createEndpoints();
  return {
    read: readSignInMessage,
    async verify(text, signature) {
      const message = readSignInMessage(text);
      if (message === undefined || !isSignature(signature)) return undefined;
      const { address, chainId } = message;
      if (await isOfKey(address, text, signature)) return { kind: 'key' };
      const chain = chains.find(({ id }) => id === chainId);
      if (chain === undefined || signature.endsWith(DELEGATION_END)) return undefined;
      const client = openClient(chain, endpoints, AbortSignal.timeout(CHAIN_MS), null);
      // A signature that cannot be decoded fails like a chain that does not answer: the next question tells them apart.
      const isOfContract = await client
        .verifyMessage({ address, message: text, signature })
        .catch(() => false);
      if (isOfContract) return { kind: 'contract', chainId };
      await client.getBlockNumber();
      return undefined;
    },
  };
}

function isSignature(text: string): text is Hex {
  return text.length <= MAX_SIGNATURE && /^0x(?:[0-9a-f]{2})+$/i.test(text);
}

async function isOfKey(address: Address, message: string, signature: Hex): Promise<boolean> {
  // r, s and v; anything else is a contract's.
  if (signature.length !== 132) return false;
  try {
    return (await recoverMessageAddress({ message, signature })) === address;
  } catch {
    return false;
  }
}
