/** Why a connection to a provider gave no answer, or stopped in the middle of one. */
export type ConnectionFault = 'unreachable' | 'connect_timeout' | 'idle' | 'cut';

/** The network failed. `message` has no URL and no header; what Node said is in `cause`. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';

  /** @param code what the system calls it, such as `ECONNREFUSED`; undefined: it has no name for it */
  constructor(
    readonly fault: ConnectionFault,
    readonly code: string | undefined,
    options?: ErrorOptions,
  ) {
    super(`connection to the provider: ${fault}${code === undefined ? '' : ` (${code})`}`, options);
  }
}

/** Finds the connection error that an error wraps, at any depth. */
export function findConnectionError(error: unknown): ConnectionError | undefined {
  let current = error;
  for (let depth = 0; depth < 10; depth++) {
    if (current instanceof ConnectionError) return current;
    if (typeof current !== 'object' || current === null || !('cause' in current)) return undefined;
    current = current.cause;
  }
  return undefined;
}

/** The `code` of a system error. Structural, because errors of Node's own realm are not always `instanceof Error`. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
