/** Decides which wallets a request may act for, see `wallet/wallet-proofs.ts`. */
export interface WalletOwners {
  /** Whether wallets have to sign in. */
  readonly areRequired: boolean;
  /** Whether whoever sent `proof` may act for the owner of a session; always true when nobody asks for proofs. */
  covers(owner: string, proof: string | undefined): boolean;
  /**
   * Finds the owner that a request means by a wallet: the one of its proof, else the one that the session is bound to.
   * @param wallet an address, or chain and address, as `walletAddress` returns it
   * @param bound what the session is bound to, for which no proof is needed; null: nothing
   * @returns what to bind and list by: `wallet` itself when nobody asks for proofs
   * @throws RefusedError `unauthenticated` without a proof that holds, `forbidden` with that of another wallet
   */
  ownerOf(wallet: string, proof: string | undefined, bound: string | null): string;
}
