import { recoverMessageAddress, type Address, type Hex } from 'viem';
import type { WalletSignatures } from '../../../../core/ports/wallet-signatures.js';
import { openClient } from '../rpc/client.js';
import { createEndpoints } from '../rpc/endpoints.js';
import type { ChainSettings } from '../settings.js';
import { readSignInMessage } from './sign-in-message.js';

/** Timeout for verifying a contract wallet's signature on its chain, in milliseconds. */
const CHAIN_MS = 15_000;
/** In characters. Generous, because the signature of a contract wallet can be long. */
const MAX_SIGNATURE = 8_192;
/** The last 32 bytes of a signature that carries its own delegation (ERC-8010), which is not yet on the chain. */
const DELEGATION_END = '8010'.repeat(16);

/**
 * Parses and verifies sign-in messages (EIP-4361). A key's signature (EIP-191) needs no chain; a contract's signature
 * (ERC-1271, or ERC-6492 before its deployment) is verified on the message's chain.
 * @param chains the chains whose contract wallets may sign in
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
      // A malformed signature and an unreachable chain fail alike. `getBlockNumber` tells them apart: it throws for the
      // latter.
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
  // 65 bytes for r, s and v; any other length belongs to a contract.
  if (signature.length !== 132) return false;
  try {
    return (await recoverMessageAddress({ message, signature })) === address;
  } catch {
    return false;
  }
}
