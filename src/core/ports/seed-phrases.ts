/** Recognises what nobody should send to a tool. */
export interface SeedPhrases {
  /** True for a valid mnemonic of a wallet (BIP 39). */
  isSeedPhrase(text: string): boolean;
}
