/** The error of one parameter. */
export interface ErrorDetail {
  readonly path: string;
  readonly message: string;
}

/**
 * `unreachable`: no connection, it was lost, or a proxy responded for the service (404, 410 or 5xx, without a JSON
 * error, or a page) · `refused`: the service responded with an error · `unsupported`: the surface lacks this call ·
 * `closed`: the client was closed.
 */
export type ClientErrorKind = 'unreachable' | 'refused' | 'unsupported' | 'closed';

/** The error of a failed call. `message` can be shown to a user. */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  /** The HTTP status, also of a proxy; null without a response. */
  readonly status: number | null;
  /** The error code of the service; null on the legacy surface. */
  readonly code: string | null;
  /** The id of the request in the service's log. */
  readonly requestId: string | null;
  readonly details: readonly ErrorDetail[];
  /** True when a retry may succeed. */
  readonly retryable: boolean;
  /** The delay that the service asked for, in milliseconds. */
  readonly retryAfterMs: number | null;

  constructor(
    readonly kind: ClientErrorKind,
    message: string,
    facts: {
      readonly status?: number;
      readonly code?: string | null;
      readonly requestId?: string | null;
      readonly details?: readonly ErrorDetail[];
      readonly retryAfterMs?: number | null;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, facts);
    this.status = facts.status ?? null;
    this.code = facts.code ?? null;
    this.requestId = facts.requestId ?? null;
    this.details = facts.details ?? [];
    this.retryable = kind === 'unreachable' || PASSING.has(facts.status ?? 0);
    this.retryAfterMs = facts.retryAfterMs ?? null;
  }
}

/** Statuses of temporary failures: too many requests, a restart, a proxy without its service. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504]);

/** Creates the error of a call that the surface lacks. */
export function unsupported(what: string): ClientError {
  return new ClientError('unsupported', `The legacy surface has no call to ${what}`);
}
