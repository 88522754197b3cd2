/** A value as it is kept: encrypted, with the id of the key that opens it. */
export interface SealedSecret {
  readonly app: string;
  readonly name: string;
  readonly keyId: string;
  /** Base64. */
  readonly sealed: string;
}

/** Where sealed secrets are kept. `client` is the digest of a client's id. */
export interface SecretStore {
  /** Stores values, over those of the same App and name. */
  putSecrets(client: string, secrets: readonly SealedSecret[], at: number): Promise<void>;
  /** A client's values, of one App or (null) of all, by App and name. */
  readSecrets(client: string, app: string | null): Promise<SealedSecret[]>;
  /** Removes a client's values; null: whatever the App, or the name. Returns how many there were. */
  deleteSecrets(
    client: string,
    which: { readonly app: string | null; readonly name: string | null },
  ): Promise<number>;
  /** The ids of the keys that values are sealed under, each once, in order. Reads no value. */
  secretKeyIds(): Promise<string[]>;
  /** Some values that another key than this one has sealed, with their clients. */
  readSecretsNotUnder(keyId: string, limit: number): Promise<(SealedSecret & { readonly client: string })[]>;
  /** Replaces a value if it is still the very one that was read. False: it was changed meanwhile. */
  resealSecret(client: string, from: SealedSecret, to: SealedSecret): Promise<boolean>;
}

/** Seals and opens values. `context` binds a value to its place: with another one it does not open. */
export interface Sealer {
  /** The key that new values are sealed under. */
  readonly keyId: string;
  /** The keys that it can open values of. */
  readonly keyIds: readonly string[];
  seal(value: string, context: string): Pick<SealedSecret, 'keyId' | 'sealed'>;
  /** @throws Error when the key is unknown, the value was tampered with, or the context is another */
  open(secret: Pick<SealedSecret, 'keyId' | 'sealed'>, context: string): string;
}
