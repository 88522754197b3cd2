import { isHex, recoverMessageAddress, type Address, type Hex } from 'viem';
import { parseSiweMessage } from 'viem/siwe';
import type { SignInMessage, WalletSignatures } from '../../core/ports.js';
import { openClient } from './client.js';
import { createEndpoints } from './endpoints.js';
import type { ChainSettings } from './settings.js';

/** How long a contract wallet's chain may take to answer, in milliseconds. */
const CHAIN_MS = 15_000;
/** In characters. The signature of a contract wallet can be long. */
const MAX_LENGTH = 8_192;

interface ReadMessage extends SignInMessage {
  readonly address: Address;
  readonly chainId: number;
}

/**
 * Reads and verifies sign-in messages (EIP-4361). The signature of a key (EIP-191) needs no chain; that of a contract (ERC-1271, or
 * ERC-6492 before it is deployed) is asked of the message's chain.
 * @param chains those that contract wallets may live on
 */
export function walletSignatures(chains: readonly ChainSettings[]): WalletSignatures {
  const endpoints = createEndpoints();
  return {
    read(text) {
      const message = readMessage(text);
      if (message === undefined) return undefined;
      const { domain, address, nonce, notBefore, expiresAt } = message;
      return { domain, address, nonce, notBefore, expiresAt };
    },
    async verify(text, signature) {
      const message = readMessage(text);
      if (message === undefined || !isHex(signature) || signature.length > MAX_LENGTH) return false;
      if (await isOfKey(message.address, text, signature)) return true;
      const chain = chains.find(({ id }) => id === message.chainId);
      if (chain === undefined) return false;
      const client = openClient(chain, endpoints, AbortSignal.timeout(CHAIN_MS), null);
      if (await client.verifyMessage({ address: message.address, message: text, signature })) return true;
      // A chain that does not answer reads as a no above: this throws then.
      await client.getBlockNumber();
      return false;
    },
  };
}

async function isOfKey(address: Address, message: string, signature: Hex): Promise<boolean> {
  // r, s and v; anything else is a contract's.
  if (signature.length !== 132) return false;
  try {
    return (await recoverMessageAddress({ message, signature })).toLowerCase() === address.toLowerCase();
  } catch {
    return false;
  }
}

function readMessage(text: string): ReadMessage | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const { domain, address, nonce, chainId, version, uri, issuedAt, notBefore, expirationTime } =
    parseSiweMessage(text);
  if (domain === undefined || address === undefined || nonce === undefined || chainId === undefined)
    return undefined;
  if (version !== '1' || uri === undefined) return undefined;
  const from = notBefore?.getTime() ?? -Infinity;
  const until = expirationTime?.getTime() ?? Infinity;
  // A time that is none reads as NaN.
  if ([from, until, issuedAt?.getTime() ?? NaN].some(Number.isNaN)) return undefined;
  return { domain, address, nonce, chainId, notBefore: from, expiresAt: until };
}
