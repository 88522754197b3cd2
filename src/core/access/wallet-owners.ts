/** Decides which wallets a request may act for. Implemented by `wallet/wallet-proofs.ts`. */
export interface WalletOwners {
  /** True if wallets must sign in. */
  readonly areRequired: boolean;
  /** True if `proof` authorizes the caller to act for the owner of a session, or if no proofs are required. */
  covers(owner: string, proof: string | undefined): boolean;
  /**
   * Resolves the wallet of a request to an owner: the one of the proof, or else the one that the session is bound to.
   * @param wallet an address, or chain and address, as `walletAddress` returns it
   * @param bound the owner that the session is bound to, which needs no proof; null: none
   * @returns the owner to bind sessions to and to list threads by; `wallet` itself if no proofs are required
   * @throws RefusedError `unauthenticated` without a valid proof, `forbidden` with the proof of another wallet
   */
  ownerOf(wallet: string, proof: string | undefined, bound: string | null): string;
}
