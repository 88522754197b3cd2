import type http from 'node:http';
import { Connections } from './connections.js';
import { targetOf } from './request-head.js';
import { streamBody } from './response-body.js';

const BODILESS = new Set([204, 205, 304]);

/**
 * Makes a `fetch` on `node:http`, which costs less than the global one while it streams. It takes what the provider packages
 * send: a URL, headers, a text body, a signal. When that aborts, the promise or the body fails with its reason.
 * @throws ConnectionError
 */
export function createFetch(connections = new Connections()): typeof globalThis.fetch {
  return async (input, init) => {
    if (typeof input !== 'string' && !(input instanceof URL)) throw new TypeError('a URL or text is needed');
    const body = init?.body ?? undefined;
    if (body !== undefined && typeof body !== 'string') throw new TypeError('the body must be text');
    const call = {
      target: targetOf(new URL(input)),
      method: init?.method ?? 'GET',
      headers: plainHeaders(init?.headers),
      body,
      signal: init?.signal ?? undefined,
    };
    return new Promise((resolve, reject) => {
      let fail = reject;
      connections.open(call, {
        onAnswer: (response, exchange) => {
          const stream = streamBody(response, {
            onBytes: () => {
              exchange.heard();
            },
            onCancel: () => {
              exchange.cancel();
            },
          });
          fail = stream.fail;
          resolve(asResponse(response, stream.body));
        },
        onFail: (reason) => {
          fail(reason);
        },
      });
    });
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
