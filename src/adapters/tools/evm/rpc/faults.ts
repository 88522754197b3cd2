import {
  BaseError,
  HttpRequestError,
  LimitExceededRpcError,
  MethodNotFoundRpcError,
  MethodNotSupportedRpcError,
  RpcRequestError,
} from 'viem';
import { BodyTooLargeError } from '../../../platform/net/bounded-body.js';
import { ChainError } from '../chain-error.js';
import type { ChainSettings } from '../settings.js';
import { ResponseFieldError } from './response-fields.js';
import { RpcResponseError } from './rpc-response.js';

const MAX_DEPTH = 10;
/** The errors of `BigInt` and `Date` for an invalid number or date. */
const CONVERSIONS: ReadonlySet<string> = new Set(['RangeError', 'SyntaxError', 'TypeError']);

/**
 * Converts an error to one with a message for the user. The client library's messages contain the endpoint's URL, keys
 * and the request, so the cause keeps only the names of the errors.
 */
export function asChainError(error: unknown, chain: ChainSettings, timeoutMs: number): ChainError {
  if (error instanceof ChainError) return error;
  return new ChainError(describe(chainOf(error), chain, timeoutMs), { cause: outline(error) });
}

/** Lists an error and its causes, outermost first. */
export function chainOf(error: unknown): readonly unknown[] {
  const errors: unknown[] = [];
  let current = error;
  while (current !== undefined && current !== null && errors.length < MAX_DEPTH) {
    errors.push(current);
    current = typeof current === 'object' && 'cause' in current ? current.cause : undefined;
  }
  return errors;
}

/** The error that a node responded with. */
export interface Refusal {
  /** Null: the node gives no integer. */
  readonly code: number | null;
  /** The node's own words, not for users; empty when it gives no text. */
  readonly message: string;
}

/** Finds a node's error response among an error and its causes; both of its fields may be anything. */
export function refusalIn(errors: readonly unknown[]): Refusal | undefined {
  const found = errors.find((error) => error instanceof RpcRequestError);
  if (found === undefined) return undefined;
  const { code, details: message }: { readonly code: unknown; readonly details: unknown } = found;
  return {
    code: typeof code === 'number' && Number.isSafeInteger(code) ? code : null,
    message: typeof message === 'string' ? message : '',
  };
}

function describe(errors: readonly unknown[], { name }: ChainSettings, timeoutMs: number): string {
  const node = `The node of ${name}`;
  if (errors.some((error) => nameOf(error) === 'TimeoutError')) {
    return `${node} did not answer within ${String(timeoutMs / 1000)} s.`;
  }
  if (errors.some((error) => error instanceof BodyTooLargeError || error instanceof RpcResponseError))
    return `${node} returned a response that is too large.`;
  const status = errors.find((error) => error instanceof HttpRequestError)?.status;
  const code = refusalIn(errors)?.code ?? undefined;
  const limited = errors.some((error) => error instanceof LimitExceededRpcError);
  if (limited || status === 429 || code === 429) return `${node} limits requests. Try again in a moment.`;
  if (status === 401 || status === 403) return `${node} refuses this service's key.`;
  if (status !== undefined && status >= 300 && status < 400)
    return `${node} redirects to another address; the redirect was not followed.`;
  if (status !== undefined) return `${node} responded with status ${String(status)}.`;
  if (errors.some((error) => error instanceof HttpRequestError)) {
    const isNotJson = errors.some((error) => nameOf(error) === 'SyntaxError');
    return isNotJson ? `${node} returned a response that is not JSON.` : `${node} cannot be reached.`;
  }
  const unknown = [MethodNotFoundRpcError, MethodNotSupportedRpcError];
  if (errors.some((error) => unknown.some((kind) => error instanceof kind)))
    return `${node} does not support this request.`;
  if (code !== undefined) return `${node} refused the request (code ${String(code)}).`;
  const isInvalid = (error: unknown): boolean =>
    error instanceof BaseError || error instanceof ResponseFieldError || CONVERSIONS.has(nameOf(error));
  if (errors.some(isInvalid)) return `${node} returned an invalid response.`;
  return `The request to ${name} failed.`;
}

/** Reduces an error and its causes to their names. */
function outline(error: unknown): Error {
  return new Error(chainOf(error).map(nameOf).join(' < '));
}

function nameOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'name' in error && typeof error.name === 'string'
    ? error.name
    : typeof error;
}
