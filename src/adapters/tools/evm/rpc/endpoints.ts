import { linkSignals } from '../../../../core/model/abort.js';
import { readBoundedJson } from '../../../platform/net/bounded-body.js';
import { checkRpcResponse } from './rpc-response.js';

const DEFAULT_TIMEOUT_MS = 10_000;
/** Bounds of a response before parsing: large enough for a block with all hashes or a receipt with all logs. */
const BOUNDS = { maxBytes: 2 * 1024 * 1024, values: 50_000, depth: 32 };
/** How long a failed endpoint is skipped while another is available, in milliseconds. */
const REST_MS = 30_000;

/**
 * Sends requests to nodes: bounded in time and size, without redirects. Skips an endpoint for a while after a failure.
 */
export interface Endpoints {
  /** Timeout of a request, in milliseconds. */
  readonly timeoutMs: number;
  /**
   * Creates a `fetch` for one of several interchangeable endpoints (`all`). It buffers the whole body of a response.
   */
  fetchFor(url: string, all: readonly string[], signal: AbortSignal): typeof fetch;
}

/** The request was not sent: its endpoint failed recently, and another one is available. */
class RestingError extends Error {
  override readonly name = 'RestingError';
}

/** Creates endpoints whose failures are remembered across calls. */
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
        // A redirect would send the request, including any key, to an address that the operator did not configure.
        const response = await fetch(input, { ...init, redirect: 'manual', signal: until.signal });
        const answer = await readWhole(response, init?.body);
        if (answer.status === 429 || answer.status >= 500) rest(url);
        else restingUntil.delete(url);
        return answer;
      } catch (error) {
        // A RangeError means an oversized result. A contract can cause one, and must not disable the endpoint.
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
 * Reads the body and checks the sizes of the values that viem will decode. The returned response holds exactly the JSON
 * that was checked; the body of a failure that is not JSON is left out.
 * @throws RangeError when the response is too large; SyntaxError when a successful response is not JSON
 */
async function readWhole(response: Response, request: unknown): Promise<Response> {
  const text = (await readBoundedJson(response, BOUNDS)).toString();
  const { status } = response;
  const body = parsed(text);
  if (body === undefined) {
    if (response.ok) throw new SyntaxError('The response is not JSON');
    return new Response(null, { status });
  }
  checkRpcResponse(body, parsed(request));
  return new Response(text, { status, headers: { 'content-type': 'application/json' } });
}

/** Returns undefined for invalid JSON. */
function parsed(text: unknown): unknown {
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
