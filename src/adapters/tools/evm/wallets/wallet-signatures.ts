import { hashMessage } from 'viem';
import type { WalletSignatures } from '../../../../core/ports/wallet-signatures.js';
import { openClient } from '../rpc/client.js';
import { createEndpoints } from '../rpc/endpoints.js';
import type { ChainSettings } from '../settings.js';
import { readSignInMessage } from './sign-in-message.js';
import { isOfContract, isOfKey, isSignature } from './signature-checks.js';

/** Timeout for verifying a contract wallet's signature on its chain, in milliseconds. */
const CHAIN_MS = 15_000;

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
      const hash = hashMessage(text);
      if (await isOfKey(address, hash, signature)) return { kind: 'key' };
      const chain = chains.find(({ id }) => id === chainId);
      if (chain === undefined) return undefined;
      const client = openClient(chain, endpoints, AbortSignal.timeout(CHAIN_MS), null);
      const isAccepted = await isOfContract(client, address, hash, signature);
      return isAccepted ? { kind: 'contract', chainId } : undefined;
    },
  };
}
