const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_BYTES = 10 * 1024 * 1024;
/** How long an endpoint that failed is passed over while there is another. */
const REST_MS = 30_000;

/** Requests to nodes: bounded in time and size, and an endpoint that failed is spared for a while. */
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
      try {
        const until = AbortSignal.any([signal, timeout.signal]);
        const answer = await readWhole(await fetch(input, { ...init, signal: until }));
        if (answer.status === 429 || answer.status >= 500) rest(url);
        else restingUntil.delete(url);
        return answer;
      } catch (error) {
        if (!signal.aborted) rest(url);
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

async function readWhole(response: Response): Promise<Response> {
  const { status, body } = response;
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body ?? []) {
    if (!(piece instanceof Uint8Array)) continue;
    bytes += piece.byteLength;
    if (bytes > MAX_BYTES) throw new RangeError('The answer is too large');
    pieces.push(piece);
  }
  const type = response.headers.get('content-type');
  return new Response(Buffer.concat(pieces), {
    status,
    headers: type === null ? {} : { 'content-type': type },
  });
}
