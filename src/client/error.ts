/** What went wrong with one parameter. */
export interface ErrorDetail {
  readonly path: string;
  readonly message: string;
}

/**
 * `unreachable`: no connection, or it broke off · `refused`: the service answered with an error ·
 * `unsupported`: the surface has no such call · `closed`: the client was closed.
 */
export type ClientErrorKind = 'unreachable' | 'refused' | 'unsupported' | 'closed';

/** Why a call failed. `message` is in words for a person. */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  /** The HTTP status; null where there was no answer. */
  readonly status: number | null;
  /** The service's word for the reason; the legacy surface gives none. */
  readonly code: string | null;
  /** What the service's log has this request under. */
  readonly requestId: string | null;
  readonly details: readonly ErrorDetail[];
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** How long the service asked to wait, in milliseconds. */
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
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.status = facts.status ?? null;
    this.code = facts.code ?? null;
    this.requestId = facts.requestId ?? null;
    this.details = facts.details ?? [];
    this.retryable = kind === 'unreachable' || (facts.status !== undefined && PASSING.has(facts.status));
    this.retryAfterMs = facts.retryAfterMs ?? null;
  }
}

/** Statuses of what passes: too many requests, a restart, a proxy without its service. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504]);

/** The failure of a call that the surface does not have. */
export function unsupported(what: string): ClientError {
  return new ClientError('unsupported', `The legacy surface has no call to ${what}`);
}
