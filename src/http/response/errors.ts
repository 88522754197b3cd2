import type { JsonObject } from '../../core/model/json.js';
import { NoKeyError, RefusedError, type Problem, type RefusalReason } from '../../core/model/refusal.js';
import { StoreUnavailableError } from '../../core/ports/store.js';

/** The content of an error response, independent of its format. */
export interface Failure {
  readonly status: number;
  readonly code:
    | RefusalReason
    | 'method_not_allowed'
    | 'precondition_failed'
    | 'payload_too_large'
    | 'misdirected'
    | 'rate_limited'
    | 'internal';
  readonly message: string;
  readonly details: readonly Problem[];
  /** In seconds. */
  readonly retryAfter?: number | undefined;
}

/** The error format of one kind of responses, and its name in logs. */
export interface Dialect {
  readonly name: string;
  /** The header that carries the App key. */
  readonly keyHeader: string;
  error(failure: Failure, requestId: string): JsonObject;
}

/** An error that occurs only in the HTTP layer. */
export class HttpError extends Error {
  override readonly name = 'HttpError';

  constructor(
    readonly status: 404 | 405 | 412 | 413 | 421 | 429 | 431 | 501 | 505,
    readonly code: Failure['code'],
    message: string,
    readonly retryAfter?: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

const STATUS = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  gone: 410,
  busy: 409,
  full: 413,
  key_reused: 422,
  too_many: 429,
  unavailable: 503,
} as const satisfies Record<RefusalReason, number>;

/** Default `Retry-After` in seconds. */
const RETRY_AFTER: Partial<Record<Failure['code'], number>> = { too_many: 1, unavailable: 1 };

/**
 * Converts an error into the content of its response. An unexpected error becomes a 500 that does not reveal its cause.
 * @param dialect names the header of an App key that is missing
 */
export function toFailure(error: unknown, { keyHeader }: Pick<Dialect, 'keyHeader'>): Failure {
  if (error instanceof NoKeyError) {
    const message = `${error.message}: send it as ${keyHeader}`;
    return { status: STATUS.unauthenticated, code: error.reason, message, details: [] };
  }
  if (error instanceof RefusedError) {
    const { reason, message, details, retryAfter = RETRY_AFTER[reason] } = error;
    return { status: STATUS[reason], code: reason, message, details, retryAfter };
  }
  if (error instanceof HttpError) {
    const { status, code, message, retryAfter } = error;
    return { status, code, message, details: [], retryAfter };
  }
  if (error instanceof StoreUnavailableError) {
    const message = 'the service cannot reach its store right now: try again in a moment';
    return { status: 503, code: 'unavailable', message, details: [], retryAfter: 1 };
  }
  if (error instanceof URIError) {
    const message = 'the path is not valid percent-encoded UTF-8';
    return { status: 400, code: 'invalid', message, details: [] };
  }
  return { status: 500, code: 'internal', message: 'internal error', details: [] };
}
