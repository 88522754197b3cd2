import http from 'node:http';
import https from 'node:https';
import { codeOf, ConnectionError, type ConnectionFault } from './connection-error.js';
import type { PlainText } from './plain-text.js';
import { streamBody } from './response-body.js';

/** Times in milliseconds. */
export interface FetchTimes {
  /** How long TCP and TLS may take to be established. */
  readonly connectMs: number;
  /** How long a request may go without a byte from the provider, before its answer or in it. */
  readonly idleMs: number;
}

/** Reasoning models may be silent for two minutes before their first word, hence three. */
export const DEFAULT_TIMES: FetchTimes = { connectMs: 10_000, idleMs: 180_000 };

const IDLE_SOCKET_MS = 60_000;
const BODILESS = new Set([204, 205, 304]);

interface Call {
  readonly url: URL;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly times: FetchTimes;
  readonly plainText: PlainText | undefined;
}

/**
 * Makes a `fetch` on `node:http`, which costs less than the global one while it streams. It takes what the provider packages
 * send: a URL, headers, a text body, a signal. No redirect is followed (a key must not go elsewhere), nothing is
 * compressed. Aborting destroys the connection at once, and the promise or the body fails with the signal's reason.
 * A kept connection that turns out dead before the first byte of an answer is replaced once, silently.
 * @param plainTextOf what takes the plain text of the answer to a call with this signal
 * @throws ConnectionError
 */
export function createFetch(
  times: FetchTimes = DEFAULT_TIMES,
  plainTextOf: (signal: AbortSignal) => PlainText | undefined = () => undefined,
): typeof globalThis.fetch {
  const kept = { keepAlive: true, timeout: IDLE_SOCKET_MS };
  const agents = { http: new http.Agent(kept), https: new https.Agent(kept) };

  return async (input, init) => {
    if (typeof input !== 'string' && !(input instanceof URL)) throw new TypeError('a URL or text is needed');
    const body = init?.body ?? undefined;
    if (body !== undefined && typeof body !== 'string') throw new TypeError('the body must be text');
    const call: Call = {
      url: new URL(input),
      method: init?.method ?? 'GET',
      headers: plainHeaders(init?.headers),
      body,
      signal: init?.signal ?? undefined,
      times,
      plainText: init?.signal ? plainTextOf(init.signal) : undefined,
    };
    const agent = call.url.protocol === 'https:' ? agents.https : agents.http;
    try {
      return await exchange(call, agent);
    } catch (error) {
      if (!(error instanceof StaleSocketError)) throw error;
      return await exchange(call, false);
    }
  };
}

/** The packages give a plain object, which is taken as it is. */
function plainHeaders(given: RequestInit['headers']): Record<string, string> {
  const isPlain = given !== undefined && !Array.isArray(given) && !(given instanceof Headers);
  return isPlain && isTexts(given) ? given : Object.fromEntries(new Headers(given));
}

function isTexts(given: object): given is Record<string, string> {
  return Object.values(given).every((value) => typeof value === 'string');
}

/** A kept socket died before the answer began: the request may be sent again on a new one. */
class StaleSocketError extends ConnectionError {}

function exchange(call: Call, agent: http.Agent | false): Promise<Response> {
  const { signal, times } = call;
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const client = call.url.protocol === 'https:' ? https : http;
    const request = client.request(call.url, { method: call.method, headers: call.headers, agent });
    let fail = reject;

    const stop = (reason: unknown): void => {
      fail(reason);
      request.destroy();
    };
    const abort = (): void => {
      stop(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
    let answer: http.IncomingMessage | undefined;
    let bytesHeard = false;
    let over = false;
    const silence = setTimeout(() => {
      bytesHeard = false;
      // A process that was held up finds bytes waiting: let them in before the provider is called silent.
      setImmediate(() => {
        if (over) return;
        if (bytesHeard || answer?.isPaused()) silence.refresh();
        else stop(new ConnectionError('idle', undefined));
      });
    }, times.idleMs);
    const heard = (): void => {
      bytesHeard = true;
      // Refreshing would wake a timer that was cleared.
      if (!over) silence.refresh();
    };
    const settle = (): void => {
      over = true;
      clearTimeout(silence);
      signal?.removeEventListener('abort', abort);
      // Complete: whoever reads it has its end already.
      if (answer?.complete !== true) fail(new ConnectionError('cut', undefined));
    };
    limitConnecting(request, times.connectMs, () => {
      stop(new ConnectionError('connect_timeout', undefined));
    });
    request.on('error', (error) => {
      fail(asConnectionError(error, request, answer !== undefined));
    });
    // Once there is an answer its own 'close' counts: the request's may come while bytes of it still wait here.
    request.once('close', () => {
      if (answer === undefined) settle();
    });
    request.once('response', (response) => {
      answer = response;
      heard();
      const stream = streamBody(response, {
        onBytes: heard,
        onCancel: () => request.destroy(),
        plainText: isEventStream(response) ? call.plainText : undefined,
      });
      fail = stream.fail;
      response.on('error', (error) => {
        fail(asConnectionError(error, request, true));
      });
      response.once('close', settle);
      resolve(asResponse(response, stream.body));
    });
    request.end(call.body);
  });
}

function isEventStream({ statusCode, headers }: http.IncomingMessage): boolean {
  return statusCode === 200 && headers['content-type']?.startsWith('text/event-stream') === true;
}

function limitConnecting(request: http.ClientRequest, ms: number, onTimeout: () => void): void {
  request.once('socket', (socket) => {
    if (!socket.connecting) return;
    const timer = setTimeout(onTimeout, ms);
    const clear = (): void => {
      clearTimeout(timer);
    };
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', clear);
    request.once('close', clear);
  });
}

function asConnectionError(error: Error, request: http.ClientRequest, answering: boolean): ConnectionError {
  const code = codeOf(error);
  const lost = code === 'ECONNRESET' || code === 'EPIPE';
  if (lost && !answering && request.reusedSocket) return new StaleSocketError('cut', code, { cause: error });
  const fault: ConnectionFault = answering || lost || code?.startsWith('HPE_') ? 'cut' : 'unreachable';
  return new ConnectionError(fault, code, { cause: error });
}

function asResponse(response: http.IncomingMessage, body: ReadableStream<Uint8Array>): Response {
  const headers = new Headers();
  for (const [name, values] of Object.entries(response.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  const status = response.statusCode ?? 0;
  return new Response(BODILESS.has(status) ? null : body, {
    status: status >= 200 && status <= 599 ? status : 502,
    statusText: response.statusMessage ?? '',
    headers,
  });
}
