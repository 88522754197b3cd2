/** Names the client of a request: its id, or a session that is bound to a client. */
export interface KeyOwner {
  readonly clientId: string | undefined;
  readonly sessionId: string | undefined;
}

/** A stored key for a model provider, without the key itself. */
export interface ProviderKey {
  readonly provider: string;
  /** The first characters of the key, for people to tell keys apart. */
  readonly keyPrefix: string;
  readonly label: string | null;
  readonly isActive: boolean;
}
