/** A stored value does not open: its key is not configured, or it was tampered with. The message is for the user. */
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
 * The values that a tool call is lent, by name. One that is stored and does not open is there for `has` and fails
 * when it is asked for, so that only the tool that needs it fails, and says why. To iterate gives what is open.
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

  /** True when the name is stored and its value does not open. */
  isClosed(name: string): boolean {
    return this.#closed.has(name);
  }
}
