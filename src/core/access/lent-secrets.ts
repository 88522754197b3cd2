/**
 * A stored secret cannot be decrypted: its key is not configured, or the value was tampered with. The message is for
 * the user.
 */
export class SecretClosedError extends Error {
  override readonly name = 'SecretClosedError';

  constructor(secret: string) {
    super(
      `The secret ${secret} can no longer be opened, as the service's key for secrets has changed. ` +
        'Store it again with POST /api/secrets.',
    );
  }
}

/**
 * The secret values available to one tool call, by name. A value that cannot be decrypted counts for `has`, and `get`
 * throws for it, so that only a tool which needs it fails. Iteration covers the decrypted values only.
 */
export class LentSecrets extends Map<string, string> {
  readonly #closed: ReadonlySet<string>;

  constructor(open: Iterable<readonly [string, string]> = [], closed: Iterable<string> = []) {
    super(open);
    this.#closed = new Set(closed);
  }

  /** @throws SecretClosedError */
  override get(name: string): string | undefined {
    if (this.#closed.has(name)) throw new SecretClosedError(name);
    return super.get(name);
  }

  override has(name: string): boolean {
    return this.#closed.has(name) || super.has(name);
  }

  /** True if a value is stored under the name and cannot be decrypted. */
  isClosed(name: string): boolean {
    return this.#closed.has(name);
  }
}
