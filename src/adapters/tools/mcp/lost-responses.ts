import { createParser } from 'eventsource-parser';
import type { FetchLike, Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { readMessage } from './bounded-fetch.js';
import { McpFailure } from './failure.js';
import { lostAnswer } from './oversize.js';

const NO_RESPONSE = 'The tool server accepted a request without a response.';

/**
 * Wraps a `fetch` so that no request waits for a response that cannot arrive: an event stream that ends and cannot be
 * resumed ends with an error response, which `OneResponse` drops if the server has responded. A stream is resumed only
 * while its request waits: the SDK would do so for ever after an error response, and after a call was cancelled.
 * @param waiting the ids of the requests that wait for a response
 */
export function endingStreams(fetch: FetchLike, waiting: ReadonlySet<number>): FetchLike {
  /** Requests whose streams have ended, by the last event id of the stream. */
  const resumable = new Map<string, number>();
  const keep = (lastEventId: string, id: number): void => {
    for (const [key, request] of resumable) if (!waiting.has(request)) resumable.delete(key);
    resumable.set(lastEventId, id);
  };
  return async (target, init = {}) => {
    const lastEventId = new Headers(init.headers).get('last-event-id');
    const resumed = lastEventId === null ? undefined : resumable.get(lastEventId);
    // The SDK takes 405 to mean that there is no stream.
    if (resumed !== undefined && !waiting.has(resumed)) return new Response(null, { status: 405 });
    const response = await fetch(target, init);
    const { status, statusText, headers, body, ok } = response;
    const isStream = ok && headers.get('content-type')?.startsWith('text/event-stream') === true;
    if (status !== 202 && !isStream) return response;
    const id = resumed ?? readMessage(init.body).id;
    if (id === null) return response;
    if (status === 202) {
      await body?.cancel();
      throw new McpFailure('unreachable', NO_RESPONSE);
    }
    if (body === null) return response;
    const stream = withEnd(body, {
      id,
      lastEventId: resumed === undefined ? null : lastEventId,
      signal: init.signal ?? null,
      keep,
    });
    return new Response(stream, { status, statusText, headers });
  };
}

/** @param request `lastEventId`: where the stream was resumed; null for the first one */
function withEnd(
  body: ReadableStream<Uint8Array>,
  request: {
    readonly id: number;
    readonly lastEventId: string | null;
    readonly signal: AbortSignal | null;
    readonly keep: (lastEventId: string, id: number) => void;
  },
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let { lastEventId } = request;
  const parser = createParser({
    onEvent({ id = '' }) {
      if (id !== '') lastEventId = id;
    },
  });
  return new ReadableStream<Uint8Array>({
    start(controller) {
      // The SDK forgets where a stream was resumed that ends before its first event.
      if (lastEventId !== null) controller.enqueue(Buffer.from(`id: ${lastEventId}\ndata:\n\n`));
    },
    async pull(controller) {
      let failure: unknown;
      try {
        const { done, value } = await reader.read();
        if (!done) {
          parser.feed(decoder.decode(value, { stream: true }));
          controller.enqueue(value);
          return;
        }
      } catch (error) {
        failure = error;
      }
      if (lastEventId !== null) request.keep(lastEventId, request.id);
      if (failure !== undefined && (lastEventId !== null || request.signal?.aborted === true)) {
        controller.error(failure);
        return;
      }
      // With an event id, the SDK resumes the stream.
      if (lastEventId === null)
        controller.enqueue(Buffer.from(`\n\ndata: ${JSON.stringify(lostAnswer(request.id))}\n\n`));
      controller.close();
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Passes on one response to each request of the client, the first, and none to a cancelled one. */
export class OneResponse implements Transport {
  onclose?: Transport['onclose'];
  onerror?: Transport['onerror'];
  onmessage?: Transport['onmessage'];

  /** @param waiting receives the ids of the requests that wait for a response */
  constructor(
    private readonly inner: Transport,
    private readonly waiting = new Set<number>(),
  ) {
    inner.onclose = () => this.onclose?.();
    inner.onerror = (error) => this.onerror?.(error);
    inner.onmessage = (message, extra) => {
      const isResponse = !('method' in message);
      if (!isResponse || this.waiting.delete(Number(message.id))) this.onmessage?.(message, extra);
    };
  }

  get sessionId(): string | undefined {
    return this.inner.sessionId;
  }

  start(): Promise<void> {
    return this.inner.start();
  }

  async send(...[message, options]: Parameters<Transport['send']>): Promise<void> {
    // The client does not wait for the response to a request that it has cancelled.
    if ('method' in message && message.method === 'notifications/cancelled')
      this.waiting.delete(Number(message.params?.requestId));
    const id = 'method' in message && 'id' in message ? Number(message.id) : null;
    if (id === null) return this.inner.send(message, options);
    this.waiting.add(id);
    try {
      await this.inner.send(message, options);
    } catch (error) {
      this.waiting.delete(id);
      throw error;
    }
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  setProtocolVersion(version: string): void {
    this.inner.setProtocolVersion?.(version);
  }
}
