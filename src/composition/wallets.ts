import type { Config } from '../config.js';
import type { WalletSignIn } from '../core/wallet/wallet-proofs.js';

/** Creates the sign-in of wallets; null when `WALLET_PROOF` is off and wallets need no proof. */
export async function createWalletSignIn(config: Config): Promise<WalletSignIn | null> {
  if (config.walletProof === 'off') return null;
  const { walletSignatures } = await import('../adapters/tools/evm/wallets/wallet-signatures.js');
  const [first] = config.tools.chains;
  const named = config.walletProofChains ?? (first === undefined ? [] : [first.id]);
  const chains = named.flatMap((id) => config.tools.chains.find((chain) => chain.id === id) ?? []);
  return {
    signatures: walletSignatures(chains),
    domains: config.walletProofDomains ?? [],
    homeChain: named[0] ?? null,
  };
}
