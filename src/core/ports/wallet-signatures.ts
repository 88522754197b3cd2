/** A parsed sign-in message (EIP-4361). Times are in milliseconds since the epoch. */
export interface SignInMessage {
  /** The site that requested the signature: `host` or `host:port`, in lower case. */
  readonly domain: string;
  /**
   * True if the URI belongs to the domain, and the URI and the message's scheme, if any, use `https`, or `http` on a
   * loopback host.
   */
  readonly isOfSite: boolean;
  /** With an EIP-55 checksum. */
  readonly address: string;
  readonly nonce: string;
  readonly issuedAt: number;
  /** `-Infinity` if the message has no such field. */
  readonly notBefore: number;
  /** `Infinity` if the message has no such field. */
  readonly expiresAt: number;
}

/**
 * The kind of account that signed: a key, which has the same address on every chain, or a contract, whose address may
 * belong to a different contract on another chain.
 */
export type WalletSigner = { readonly kind: 'key' } | { readonly kind: 'contract'; readonly chainId: number };

/** Parses sign-in messages and verifies the signatures of wallets. */
export interface WalletSignatures {
  /** Parses a message. Undefined: the text is not a sign-in message. */
  read(message: string): SignInMessage | undefined;
  /**
   * Verifies a signature of the wallet that the message names. Undefined: the signature is not valid.
   * @throws Error if the chain of a contract wallet cannot be queried
   */
  verify(message: string, signature: string): Promise<WalletSigner | undefined>;
}
