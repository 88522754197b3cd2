/**
 * Why the core says no. The list is closed: every surface turns each reason into its own answer
 * with an exhaustive `Record`, so that a new reason does not compile until each has decided.
 */
export type RefusalReason =
  | 'invalid' // the request is malformed
  | 'unauthenticated' // a key is needed and is missing or not valid
  | 'forbidden' // the key does not cover the App
  | 'not_found' // no such session, message, tool, action
  | 'gone' // the message was accepted, and its session was deleted before the response
  | 'busy' // the thread is busy and its App rejects meanwhile
  | 'full' // what is kept has reached its bound, and the message says what makes room
  | 'key_reused' // the idempotency key was used with another message
  | 'too_many' // a limit is reached; `retryAfter` says for how long
  | 'unavailable'; // draining, or the store does not answer

/** One thing that is wrong with a request, and where. */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

/** The core refuses a request. The message is written for the person who sent it. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';

  /** @param retryAfter seconds after which a repeat may succeed */
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
