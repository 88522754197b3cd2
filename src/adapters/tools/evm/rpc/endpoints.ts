import { linkSignals } from '../../../../core/model/abort.js';
import { readBoundedJson } from '../../../platform/net/bounded-body.js';
import { checkRpcResponse } from './rpc-response.js';

const DEFAULT_TIMEOUT_MS = 10_000;
/** A response of a node, before it is parsed: a block with all its hashes, a receipt with all its logs. */
const BOUNDS = { maxBytes: 2 * 1024 * 1024, values: 50_000, depth: 32 };
/** How long an endpoint that failed is passed over while there is another. */
const REST_MS = 30_000;

/**
 * Requests to nodes: bounded in time and size, without redirects, and an endpoint that failed is spared for a while.
 */
export interface Endpoints {
  /** How long a request may take. */
  readonly timeoutMs: number;
  /** A `fetch` for one of several endpoints that can stand in for each other. Its answers have been read whole. */
  fetchFor(url: string, all: readonly string[], signal: AbortSignal): typeof fetch;
}

/** A request that was not made, because its endpoint failed a moment ago and there is another. */
class RestingError extends Error {
  override readonly name = 'RestingError';
}

/** Remembers for all calls which endpoints failed. */
export function createEndpoints(timeoutMs = DEFAULT_TIMEOUT_MS): Endpoints {
  const restingUntil = new Map<string, number>();
  const isResting = (url: string): boolean => (restingUntil.get(url) ?? 0) > performance.now();
  const rest = (url: string): void => {
    restingUntil.set(url, performance.now() + REST_MS);
  };

  return {
    timeoutMs,
    fetchFor: (url, all, signal) => async (input, init) => {
      if (isResting(url) && !all.every(isResting)) throw new RestingError('failed a moment ago');
      const timeout = new AbortController();
      const timer = setTimeout(() => {
        timeout.abort(new DOMException('The node did not answer in time', 'TimeoutError'));
      }, timeoutMs);
      const until = linkSignals(signal, timeout.signal);
      try {
        // A redirect would repeat the request, key and all, at an address that the operator did not name.
        const response = await fetch(input, { ...init, redirect: 'manual', signal: until.signal });
        const answer = await readWhole(response, init?.body);
        if (answer.status === 429 || answer.status >= 500) rest(url);
        else restingUntil.delete(url);
        return answer;
      } catch (error) {
        // What a contract returns must not take an endpoint out of use.
        if (!signal.aborted && !(error instanceof RangeError)) rest(url);
        throw error;
      } finally {
        clearTimeout(timer);
        until.release();
      }
    },
  };
}

/**
 * The response with its body read; what viem decodes of it has been bounded. @throws RangeError when it is too large
 */
async function readWhole(response: Response, request: unknown): Promise<Response> {
  const bytes = await readBoundedJson(response, BOUNDS);
  checkRpcResponse(parsed(bytes.toString()), parsed(request));
  const type = response.headers.get('content-type');
  return new Response(new Uint8Array(bytes), {
    status: response.status,
    headers: type === null ? {} : { 'content-type': type },
  });
}

/** Undefined for what is not JSON: the client library reports that. */
function parsed(text: unknown): unknown {
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
