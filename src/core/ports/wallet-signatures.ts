/** What a wallet signs to sign in (EIP-4361). Times are in milliseconds since the epoch. */
export interface SignInMessage {
  /** The site that asked for it: `host` or `host:port`, in lower case. */
  readonly domain: string;
  /**
   * Whether the URI is one of that site, and it and the scheme, if there is one, are `https`, or `http` on a loopback
   * host.
   */
  readonly isOfSite: boolean;
  /** With the checksum of EIP-55. */
  readonly address: string;
  readonly nonce: string;
  readonly issuedAt: number;
  /** `-Infinity` when the message does not say. */
  readonly notBefore: number;
  /** `Infinity` when the message does not say. */
  readonly expiresAt: number;
}

/**
 * Who signed: a key, whose address is its own on every chain, or a contract, whose address may belong to another one on
 * another chain.
 */
export type WalletSigner = { readonly kind: 'key' } | { readonly kind: 'contract'; readonly chainId: number };

/** Knows the signatures of wallets. */
export interface WalletSignatures {
  /** Undefined for text that is no sign-in message. */
  read(message: string): SignInMessage | undefined;
  /**
   * Finds out who signed for the wallet that the message names. Undefined: nobody that counts.
   * @throws Error when the chain of a contract wallet does not answer
   */
  verify(message: string, signature: string): Promise<WalletSigner | undefined>;
}
