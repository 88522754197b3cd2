/** Why a connection to a provider brought no response, or only part of one. */
export type ConnectionFault = 'unreachable' | 'connect_timeout' | 'idle' | 'cut';

/** A network failure. `message` contains no URL and no header; Node's error is in `cause`. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';

  /** @param code the code of the system error, such as `ECONNREFUSED`, if it has one */
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

/** The `code` of a system error. Tests the shape, because an error of another realm is not `instanceof Error`. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
