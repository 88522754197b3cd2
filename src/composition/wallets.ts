import type { Config } from '../config.js';
import type { WalletSignIn } from '../core/wallet/wallet-proofs.js';

/** How wallets sign in; null where they are taken at their word, which then costs nothing. */
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
