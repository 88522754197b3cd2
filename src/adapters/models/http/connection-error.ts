import { codeOf } from '../../platform/node/error-code.js';

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
  for (const current of chainOf(error)) {
    if (current instanceof ConnectionError) return current;
    const fault = FETCH_FAULTS.get(isTypeError(current) ? current.message : undefined);
    const code = isTypeError(current) ? codeOf(current.cause) : undefined;
    if (fault !== undefined && code !== undefined)
      return new ConnectionError(fault, code, { cause: current });
  }
  return undefined;
}

/** Finds the TypeError that an error is or wraps: a bug, unless it is a connection error. */
export function findTypeError(error: unknown): TypeError | undefined {
  return chainOf(error).find(isTypeError);
}

/** The messages of TypeErrors of the global `fetch` for a failed connection, whose cause is the system error. */
const FETCH_FAULTS: ReadonlyMap<string | undefined, ConnectionFault> = new Map([
  ['fetch failed', 'unreachable'],
  ['terminated', 'cut'],
]);

/** An error and its causes. */
function chainOf(error: unknown): readonly unknown[] {
  const chain = [error];
  for (let last = error; chain.length < 10; chain.push(last)) {
    if (typeof last !== 'object' || last === null || !('cause' in last)) return chain;
    last = last.cause;
  }
  return chain;
}

/** Tests the name, because an error of another realm is not `instanceof TypeError`. */
function isTypeError(error: unknown): error is TypeError {
  return typeof error === 'object' && error !== null && 'name' in error && error.name === 'TypeError';
}
