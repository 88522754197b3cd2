import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { linkSignals } from '../../../core/model/abort.js';
import { isJsonObject } from '../../../core/model/json.js';
import { McpFailure } from './failure.js';
import { JsonMeter } from '../../platform/net/json-meter.js';
import { StreamOpenings } from './stream-openings.js';
import { cancelledAnswer, MAX_MESSAGE_BYTES, MESSAGE_BOUNDS, oversizedAnswer } from './oversize.js';

const FLOOD = 'The tool server sends requests, but does not accept the responses.';
const TOO_MANY_STREAMS = 'The tool server ends its streams faster than they may be opened again.';
const ELSEWHERE = 'The tool server redirects to another origin; the redirect was not followed.';
/** How many responses to requests of the server may wait until the server accepts them. */
const MAX_REPLIES = 64;
const CR = 13;
const LF = 10;

/** How to end the responses that are still being read, by the ids of their requests. */
type OpenResponses = Map<number, () => void>;

/**
 * Creates a `fetch` for one connection. It sends requests only to the origin of `url`, follows no redirects, and
 * rejects messages (a body, or one event of a stream) of more than 4 MiB or with more values than `MESSAGE_BOUNDS`
 * allows. The response to a call ends once its cancellation was sent, because a server may keep it open.
 * @param closed aborts when the connection is closed
 * @param onFlood called when the caller must close the connection: the server sends requests, such as pings, without
 * accepting the responses, or ends its streams faster than they may be opened
 */
export function createBoundedFetch(
  url: URL,
  closed: AbortSignal,
  onFlood: (error: McpFailure) => void,
): FetchLike {
  const open: OpenResponses = new Map();
  const openings = new StreamOpenings();
  let replies = 0;
  const flood = (words: string): McpFailure => {
    const error = new McpFailure('refused', words);
    onFlood(error);
    return error;
  };
  return async (target, init = {}) => {
    const { origin } = new URL(target);
    if (origin !== url.origin) throw new McpFailure('unreachable', ELSEWHERE);
    const isStream = init.method === 'GET';
    const { id, cancels, isReply } = readMessage(init.body);
    if (isReply && replies >= MAX_REPLIES) throw flood(FLOOD);
    if (isStream && openings.isFull) throw flood(TOO_MANY_STREAMS);
    const excess = new AbortController();
    const sources = init.signal == null ? [excess.signal] : [init.signal, excess.signal];
    const linked = linkSignals(...sources);
    const stop = (): void => {
      excess.abort();
    };
    const release = (): void => {
      linked.release();
      if (id !== null) open.delete(id);
    };
    if (id !== null) open.set(id, stop);
    if (isReply) replies++;
    try {
      if (isStream) await openings.next(linked.signal);
      const response = await fetch(target, { ...init, signal: linked.signal, redirect: 'manual' });
      return withBoundedBody(response, id, { stop, release, open });
    } catch (error) {
      release();
      // The SDK would retry a failed stream even after it was closed. It takes 405 to mean that there is no stream.
      if (isStream && closed.aborted) return new Response(null, { status: 405 });
      throw error;
    } finally {
      if (isReply) replies--;
      if (cancels !== null) open.get(cancels)?.();
    }
  };
}

/** What a message of the client says: the id of a request, or the id of the request that it cancels. */
interface SentMessage {
  readonly id: number | null;
  readonly cancels: number | null;
  /** True for the response to a request of the server. */
  readonly isReply: boolean;
}

const NO_MESSAGE: SentMessage = { id: null, cancels: null, isReply: false };

/** Reads the body of a request. */
export function readMessage(body: unknown): SentMessage {
  if (typeof body !== 'string') return NO_MESSAGE;
  const message: unknown = JSON.parse(body);
  if (!isJsonObject(message)) return NO_MESSAGE;
  if (typeof message.method !== 'string') return { ...NO_MESSAGE, isReply: true };
  const { id, method, params } = message;
  const cancelled =
    method === 'notifications/cancelled' && isJsonObject(params) ? params.requestId : undefined;
  return {
    id: typeof id === 'number' ? id : null,
    cancels: typeof cancelled === 'number' ? cancelled : null,
    isReply: false,
  };
}

/**
 * Bounds the body of a response. In an event stream, an error result for request `id` replaces a message that is too
 * large; otherwise the body fails.
 * @param request `stop` closes the request's connection, which can stay open if a body is cancelled while its last
 * bytes arrive; `release` is called when the body has ended or is cancelled
 */
function withBoundedBody(
  response: Response,
  id: number | null,
  request: { readonly stop: () => void; readonly release: () => void; readonly open: OpenResponses },
): Response {
  if (response.body === null || response.status === 204 || response.status === 304) {
    request.release();
    return response;
  }
  const isEvents = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const fits = isEvents ? eventsFit() : bodyFits();
  const end = (): void => {
    request.stop();
    request.release();
  };
  const bound = new TransformStream<Uint8Array, Uint8Array>({
    start(controller) {
      if (!isEvents || id === null) return;
      // Without a result, the SDK would open the stream again.
      request.open.set(id, () => {
        controller.enqueue(eventOf(cancelledAnswer(id)));
        controller.terminate();
        end();
      });
    },
    transform(chunk, controller) {
      if (fits(chunk)) {
        controller.enqueue(chunk);
        return;
      }
      if (!isEvents || id === null) {
        controller.error(new McpFailure('refused', 'The tool server sent a message that is too large.'));
      } else {
        controller.enqueue(eventOf(oversizedAnswer(id)));
        controller.terminate();
      }
      end();
    },
  });
  void response.body.pipeTo(bound.writable).then(request.release, request.release);
  const { status, statusText, headers } = response;
  return new Response(bound.readable, { status, statusText, headers });
}

/** A message as an event, after whatever is unfinished in the stream. */
function eventOf(message: object): Uint8Array {
  return Buffer.from(`\n\ndata: ${JSON.stringify(message)}\n\n`);
}

/** Consumes a chunk. Returns false once the message exceeds the bounds. */
type Fits = (chunk: Uint8Array) => boolean;

function bodyFits(): Fits {
  const meter = new JsonMeter(MESSAGE_BOUNDS);
  let total = 0;
  return (chunk) => (total += chunk.length) <= MAX_MESSAGE_BYTES && meter.push(chunk);
}

/** Measures each event on its own. A blank line ends an event. */
function eventsFit(): Fits {
  const meter = new JsonMeter(MESSAGE_BOUNDS);
  let size = 0;
  let isLineEmpty = true;
  let previous = 0;
  const add = (part: Uint8Array): boolean => (size += part.length) <= MAX_MESSAGE_BYTES && meter.push(part);
  return (chunk) => {
    let start = 0;
    for (const [at, byte] of chunk.entries()) {
      const isSecondOfPair = byte === LF && previous === CR;
      previous = byte;
      if (byte !== LF && byte !== CR) {
        isLineEmpty = false;
        continue;
      }
      if (!add(chunk.subarray(start, at + 1))) return false;
      start = at + 1;
      meter.endLine();
      if (isLineEmpty && !isSecondOfPair) {
        size = 0;
        meter.reset();
      }
      isLineEmpty = true;
    }
    return add(chunk.subarray(start));
  };
}
