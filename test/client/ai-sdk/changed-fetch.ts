import { Gate } from '../../support/gate.js';

/**
 * What happens to a message: the service refuses it, or a proxy loses the response, or removes the id of its turn from
 * it.
 */
export type Fault = 'refused' | 'lost' | 'no turn id';

/** Returns a `fetch` with faults of the next messages, one each. */
export function faultyFetch(faults: Fault[]): typeof fetch {
  return async (input, init) => {
    const fault = new Request(input, init).url.endsWith('/chat') ? faults.shift() : undefined;
    if (fault === 'lost') await fetch(input, init);
    if (fault === 'refused' || fault === 'lost')
      return new Response('{"error":"unavailable"}', { status: 503, headers: { 'Retry-After': '60' } });
    const response = await fetch(input, init);
    if (fault === undefined) return response;
    const headers = new Headers(response.headers);
    headers.delete('x-turn-id');
    return new Response(response.body, { status: response.status, headers });
  };
}

/** A `fetch` that waits before its requests to a path, once `hold` was called and until `release` is. */
export class HeldFetch {
  readonly #reached = new Gate();
  readonly #released = new Gate();
  #isHeld = false;

  constructor(private readonly path: string) {}

  readonly fetch: typeof fetch = async (input, init) => {
    if (this.#isHeld && new Request(input, init).url.includes(this.path)) {
      this.#reached.open();
      await this.#released.passed;
    }
    return fetch(input, init);
  };

  hold(): void {
    this.#isHeld = true;
  }

  /** Resolves when a request waits. */
  get reached(): Promise<void> {
    return this.#reached.passed;
  }

  release(): void {
    this.#released.open();
  }
}
