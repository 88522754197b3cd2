/**
 * Why the core refuses a request. Each surface maps the reasons to its responses with an exhaustive `Record`, so that a
 * new reason does not compile until every surface handles it.
 */
export type RefusalReason =
  | 'invalid' // the request is malformed
  | 'unauthenticated' // a required App key or wallet proof is missing or invalid
  | 'forbidden' // the App key does not cover the App, or the proof is of another wallet
  | 'not_found' // no such session, message, tool, action
  | 'gone' // the message was accepted, and its session was deleted before the response
  | 'busy' // a turn runs in the thread, and the App's busy strategy is `reject`
  | 'full' // a storage limit is reached; the message says how to free space
  | 'key_reused' // the idempotency key was used with another message
  | 'too_many' // a limit is reached; `retryAfter` says until when
  | 'unavailable'; // the service drains, or the store or another dependency is unavailable

/** One error in a request, with the path of the field. */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

/** The core refuses a request. The message is for the person who sent it. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';

  /** @param retryAfter seconds after which a retry may succeed */
  constructor(
    readonly reason: RefusalReason,
    message: string,
    readonly details: readonly Problem[] = [],
    readonly retryAfter?: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** A request needs an App key and has none. A surface adds the header that carries it. */
export class NoKeyError extends RefusedError {
  constructor(message: string) {
    super('unauthenticated', message);
  }
}

/** The service drains: it takes no messages. */
export function serviceRestarting(): RefusedError {
  const message = 'The service is restarting; send the message again in a moment';
  return new RefusedError('unavailable', message, [], 2);
}

/** A message would make the thread larger than the limit. Sizes are in bytes. */
export function threadFull(bytes: number, limit: number): RefusedError {
  return new RefusedError(
    'full',
    `The thread holds ${String(bytes)} bytes of text, and with this message it would hold more than ` +
      `${String(limit)}: go on in another session, or delete this one`,
  );
}
