import { createParser } from 'eventsource-parser';
import { ClientError } from './error.js';
import { isObject, objectsIn, parseJson, present, textOf } from './json.js';
import { linked, type Life } from './pacing.js';
import type { ClientOptions, JsonObject, JsonValue, WireEvent } from './types.js';

/** One request to the service. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** The path below the service's base URL. */
  readonly path: string;
  /** Undefined parameters are omitted. */
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: JsonObject;
  readonly signal?: AbortSignal | undefined;
}

/** Returns a function that describes requests to paths below a base path. */
export function callsBelow(
  base: string,
): (method: Call['method'], path: string, rest?: Omit<Call, 'method' | 'path'>) => Call {
  return (method, path, rest) => ({ method, path: base + path, ...rest });
}

/** A response that was read. `body` is undefined for 304. */
export interface Answer {
  readonly headers: Headers;
  readonly body: JsonValue | undefined;
}

/**
 * Timeouts in milliseconds for the head of a response, and for a silence in its body. In a stream, the service sends a
 * comment every 15 s.
 */
const HEAD_MS = 60_000;
const SILENCE_MS = 90_000;

/** The text of a response, as it arrives. */
type Pieces = AsyncGenerator<string, void, undefined>;

const BASE = /^(https?:\/\/[^/?#@]+(\/[^?#]*)?|\/[^?#]*|)$/i;

/**
 * Returns what precedes the paths of requests.
 * @throws TypeError for a URL that no request can use
 */
export function baseOf(url: string): string {
  // Each request would fail like one to a service that is away, and be retried forever.
  if (!isUsable(url))
    throw new TypeError('url must be an http(s) URL without a password, a query and a fragment, or a path');
  return url.replace(/\/+$/, '');
}

function isUsable(url: string): boolean {
  try {
    new URL(url, 'http://page');
    return BASE.test(url);
  } catch {
    return false;
  }
}

/** Sends HTTP requests to the service for one session. */
export class Wire {
  readonly #closed = new AbortController();
  readonly #base: string;
  readonly #fetch: typeof fetch;

  constructor(
    private readonly options: ClientOptions,
    readonly sessionId: string,
  ) {
    this.#base = baseOf(options.url);
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
  }

  /** Aborts when the client is closed. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  close(): void {
    this.#closed.abort(new ClientError('closed', 'This client was closed'));
  }

  /**
   * Sends a request and reads its JSON response.
   * @throws ClientError, or the abort reason of the call's signal
   */
  async ask(call: Call): Promise<Answer> {
    const { response, pieces } = await this.#open(call);
    const { headers, status } = response;
    const body = await jsonOf(pieces);
    if (body === undefined && status !== 304) throw notJson();
    return { headers, body };
  }

  /** The same, for a response that is an object. */
  async askObject(call: Call): Promise<{ headers: Headers; body: JsonObject }> {
    const { headers, body } = await this.ask(call);
    if (!isObject(body)) throw notJson();
    return { headers, body };
  }

  /**
   * Opens a stream. Resolves when the response headers have arrived. The events end with the stream, and throw when the
   * connection is lost.
   */
  async stream(call: Call): Promise<AsyncGenerator<WireEvent, void, undefined>> {
    const headers = { Accept: 'text/event-stream', ...call.headers };
    const { pieces } = await this.#open({ ...call, headers });
    return this.#events(call, pieces);
  }

  async *#events({ path }: Call, pieces: Pieces): AsyncGenerator<WireEvent, void, undefined> {
    const ready: WireEvent[] = [];
    const parser = createParser({
      onEvent: ({ id, data }) => {
        const value = parseJson(data);
        if (isObject(value)) ready.push({ path, id, data: value, at: new Date() });
      },
    });
    for await (const piece of pieces) {
      parser.feed(piece);
      for (const event of ready.splice(0)) {
        this.options.onWireEvent?.(event);
        yield event;
      }
    }
  }

  /**
   * Yields the text of a body as it arrives, and ends the request.
   * @throws ClientError when the connection is lost or silent, or the abort reason of the call's signal
   */
  async *#pieces(call: Call, response: Response, life: Life): Pieces {
    const decoder = new TextDecoder();
    const body = response.body as Partial<ReadableStream<Uint8Array>> | null | undefined;
    try {
      // Some implementations of fetch provide no stream.
      const reader = body?.getReader?.();
      if (reader === undefined) {
        yield await within(SILENCE_MS, life, response.text());
        return;
      }
      // Cancels the body on abort, because some implementations of fetch do not.
      life.signal.addEventListener('abort', () => {
        reader.cancel().catch(() => undefined);
      });
      for (;;) {
        const chunk = await within(SILENCE_MS, life, reader.read());
        life.signal.throwIfAborted();
        if (chunk.done) return;
        yield decoder.decode(chunk.value, { stream: true });
      }
    } catch (error) {
      this.#throwIfStopped(call);
      throw unreachable('The connection was lost', error);
    } finally {
      life.abort();
    }
  }

  async #open(call: Call): Promise<{ response: Response; pieces: Pieces }> {
    const life = linked(this.closed, call.signal);
    try {
      life.signal.throwIfAborted();
      const response = await within(HEAD_MS, life, this.#fetchOnce(call, life.signal));
      const pieces = this.#pieces(call, response, life);
      const type = response.headers.get('Content-Type') ?? '';
      // A page instead of a stream does not come from the service.
      const isStream = type.startsWith(call.headers?.Accept ?? '');
      if ((response.ok && isStream) || response.status === 304) return { response, pieces };
      throw refusal(response, await jsonOf(pieces));
    } catch (error) {
      life.abort();
      throw error;
    }
  }

  async #fetchOnce(call: Call, signal: AbortSignal): Promise<Response> {
    const url = this.#base + call.path + queryText(call.query ?? {});
    const body = call.body && JSON.stringify(call.body);
    const headers = present({
      'X-Session-Id': this.sessionId,
      'Content-Type': body && 'application/json',
      ...call.headers,
    });
    // Throws a TypeError for a value that cannot be sent; in `fetch`, that would be retried as a network failure.
    new Headers(headers);
    const { method } = call;
    const startedAt = new Date();
    const sentAt = performance.now();
    const report = (status: number | null, retryAfterMs: number | null): void => {
      const milliseconds = Math.round(performance.now() - sentAt);
      this.options.onExchange?.({
        ...{ method, url, headers, body, status, startedAt, milliseconds, retryAfterMs },
      });
    };
    try {
      const response = await this.#fetch(url, { method, headers, signal, body: body ?? null });
      report(response.status, retryAfter(response.headers));
      return response;
    } catch (error) {
      this.#throwIfStopped(call);
      report(null, null);
      throw unreachable(`The service at ${this.#base || 'this origin'} cannot be reached`, error);
    }
  }

  #throwIfStopped(call: Call): void {
    this.closed.throwIfAborted();
    call.signal?.throwIfAborted();
  }
}

/** Aborts a request unless a part of its response arrives in time. */
function within<T>(milliseconds: number, life: Life, part: Promise<T>): Promise<T> {
  const timer = setTimeout(life.abort, milliseconds);
  return part.finally(() => {
    clearTimeout(timer);
  });
}

async function jsonOf(pieces: Pieces): Promise<JsonValue | undefined> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return parseJson(text);
}

/** Converts an error response to an error. */
function refusal({ status, headers }: Response, body: JsonValue | undefined): ClientError {
  const said = isObject(body) ? body : {};
  const details = objectsIn(said.details).map((detail) => ({
    path: textOf(detail, 'path'),
    message: textOf(detail, 'message'),
  }));
  const words = textOf(said, 'error');
  // The service says in JSON what is wrong; a proxy that cannot reach it says something else.
  const isOfProxy = words === '' && (status < 300 || status === 404 || status === 410 || status >= 500);
  return new ClientError(
    isOfProxy ? 'unreachable' : 'refused',
    `${words || 'The request failed'} (HTTP ${String(status)})`,
    {
      status,
      code: textOf(said, 'code') || null,
      requestId: textOf(said, 'request_id') || headers.get('x-request-id'),
      details,
      retryAfterMs: retryAfter(headers),
    },
  );
}

function unreachable(message: string, cause: unknown): ClientError {
  return new ClientError('unreachable', message, { cause });
}

function notJson(): ClientError {
  return new ClientError('unreachable', 'The response is not JSON');
}

/** Converts the value of `Retry-After`, seconds or a date, to milliseconds from now. */
function retryAfter(headers: Headers): number | null {
  const value = headers.get('retry-after') ?? '';
  // Prefers the `Date` of the response, because the local clock may be wrong. Pages of other origins cannot read it.
  const now = Date.parse(headers.get('date') ?? '') || Date.now();
  const milliseconds = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isNaN(milliseconds) ? null : Math.max(milliseconds, 0);
}

function queryText(query: Readonly<Record<string, string | undefined>>): string {
  const text = new URLSearchParams(present(query)).toString();
  return text === '' ? '' : `?${text}`;
}
