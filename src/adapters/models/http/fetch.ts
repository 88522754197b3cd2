import { JsonMeter } from '../../platform/net/json-meter.js';
import { UpstreamFault } from '../upstream-fault.js';
import { ModelHttpClient } from './client.js';
import { ConnectionError } from './connection-error.js';
import type { ModelRequest, OpenResponse, ResponseHead } from './exchange.js';
import { JSON_BOUNDS, MAX_BYTES, MAX_EVENT } from './limits.js';

const BODILESS = new Set([204, 205, 304]);
const LF = 10;

/** How many chunks a body buffers before it pauses the connection. */
const WAITING_CHUNKS = 16;

/** The reason of an abort that ends the body, where any other reason makes it fail. */
export class ResponseIsComplete extends Error {
  override readonly name = 'ResponseIsComplete';
}

/**
 * Creates a `fetch` for the provider packages, on top of the HTTP client of the model adapters. It supports only what
 * they use: a URL, headers, a text body and a signal. On abort, the promise or the body fails with the signal's reason.
 * A body whose connection breaks off ends like a complete one, because only its events tell whether it was complete.
 * @throws ConnectionError
 */
export function createFetch(client = new ModelHttpClient()): typeof globalThis.fetch {
  return async (input, init) => {
    if (typeof input !== 'string' && !(input instanceof URL)) throw new TypeError('url must be text or URL');
    const body = init?.body ?? undefined;
    if (body !== undefined && typeof body !== 'string') throw new TypeError('the body must be text');
    const method = init?.method ?? 'GET';
    if (method !== 'GET' && method !== 'POST') throw new TypeError('the method must be GET or POST');
    return openResponse(client, {
      url: new URL(input),
      method,
      headers: Object.fromEntries(new Headers(init?.headers)),
      body,
      signal: init?.signal ?? undefined,
    });
  };
}

function openResponse(client: ModelHttpClient, request: ModelRequest): Promise<Response> {
  return new Promise((resolve, reject) => {
    let stream: BodyStream | undefined;
    let fail: (reason: unknown) => void = reject;
    client.open(request, {
      onResponse: (head, response) => {
        const body = new BodyStream(response);
        try {
          resolve(asResponse(head, body.body));
        } catch {
          response.cancel();
          reject(new UpstreamFault('unreadable', { code: 'head' }));
          return;
        }
        stream = body;
        fail = (reason) => {
          if (isEnd(reason)) body.end();
          else body.fail(reason);
        };
      },
      onData: (bytes) => {
        stream?.push(bytes);
      },
      onEnd: () => {
        stream?.end();
      },
      onFail: (reason) => {
        fail(reason);
      },
    });
  });
}

function isEnd(reason: unknown): boolean {
  if (reason instanceof ConnectionError) return reason.fault === 'cut';
  return reason instanceof ResponseIsComplete;
}

/**
 * The body of a response as a web stream, with backpressure down to TCP. A body that exceeds the limits fails with an
 * `UpstreamFault`.
 */
class BodyStream {
  readonly body: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #bytes = 0;
  #line = 0;
  readonly #meter = new JsonMeter(JSON_BOUNDS);

  constructor(private readonly response: OpenResponse) {
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => {
          response.resume();
        },
        cancel: () => {
          this.#controller = undefined;
          response.cancel();
        },
      },
      { highWaterMark: WAITING_CHUNKS },
    );
  }

  push(bytes: Buffer): void {
    this.#bytes += bytes.length;
    const lastBreak = bytes.lastIndexOf(LF);
    this.#line = lastBreak === -1 ? this.#line + bytes.length : bytes.length - lastBreak - 1;
    const isEndless = this.#bytes > MAX_BYTES || this.#line > MAX_EVENT;
    if (isEndless || !this.#isSimple(bytes)) {
      this.fail(new UpstreamFault('unreadable', { code: isEndless ? 'endless' : 'complex_event' }));
      this.response.cancel();
      return;
    }
    this.#controller?.enqueue(bytes);
    if ((this.#controller?.desiredSize ?? 0) <= 0) this.response.pause();
  }

  /** True while no line exceeds `JSON_BOUNDS`. The JSON of an event is one line. */
  #isSimple(bytes: Buffer): boolean {
    let start = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
      if (!this.#meter.push(bytes.subarray(start, end))) return false;
      this.#meter.reset();
      start = end + 1;
    }
    return this.#meter.push(bytes.subarray(start));
  }

  end(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }

  fail(reason: unknown): void {
    this.#controller?.error(reason);
    this.#controller = undefined;
  }
}

function asResponse(
  { status, statusText, headers }: ResponseHead,
  body: ReadableStream<Uint8Array>,
): Response {
  const all = new Headers();
  for (const [name, value = []] of Object.entries(headers)) {
    for (const one of typeof value === 'string' ? [value] : value) all.append(name, byteString(one));
  }
  return new Response(BODILESS.has(status) ? null : body, {
    status: status <= 599 ? status : 502,
    statusText: byteString(statusText),
    headers: all,
  });
}

/** Text as `Response` takes it: a character for each byte (isomorphic decoding, in the words of the Fetch standard). */
function byteString(text: string): string {
  return Buffer.from(text).toString('latin1');
}
