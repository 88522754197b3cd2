import { errors, type Dispatcher } from 'undici';
import { GuardError } from './guard-error.js';
import type { Hop } from './redirects.js';

const BODILESS = new Set([204, 205, 304]);

/**
 * Converts a response of undici to a `Response` whose body is streamed.
 * @throws GuardError when it is compressed
 */
export function asResponse(
  answer: Dispatcher.ResponseData,
  { url, method }: Hop,
  redirected: boolean,
): Response {
  const { statusCode, body } = answer;
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) {
    for (const one of Array.isArray(value) ? value : [value ?? '']) headers.append(name, one);
  }
  if (!['', 'identity'].includes(headers.get('content-encoding') ?? '')) {
    discard(body);
    throw new GuardError(`The host ${url.hostname} sent a compressed response, which was not requested.`);
  }
  const isEmpty = BODILESS.has(statusCode) || method === 'HEAD';
  if (isEmpty) discard(body);
  const status = statusCode >= 200 && statusCode <= 599 ? statusCode : 502;
  const response = new Response(isEmpty ? null : streamOf(body), { status, headers });
  Object.defineProperties(response, { url: { value: url.href }, redirected: { value: redirected } });
  return response;
}

/** Unlike `ReadableStream.from` alone, closes the body also when the stream is cancelled before its first read. */
function streamOf(body: Dispatcher.ResponseData['body']): ReadableStream<Uint8Array> {
  const pieces = piecesOf(body);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await pieces.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      },
      cancel() {
        discard(body);
      },
    },
    { highWaterMark: 0 },
  );
}

async function* piecesOf(body: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of body) if (piece instanceof Uint8Array) yield piece;
  } catch (error) {
    if (error instanceof errors.ResponseExceededMaxSizeError) {
      throw new GuardError('The response is too large.', { cause: error });
    }
    if (error instanceof errors.BodyTimeoutError) {
      throw new GuardError('The host stopped sending in the middle of its response.', { cause: error });
    }
    throw error;
  }
}

/** Closes a response without reading its body. */
export function discard(body: Dispatcher.ResponseData['body']): void {
  body.on('error', () => undefined).destroy(); // the error of an aborted body is expected
}
