import type { FetchLike, Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { readMessage } from './bounded-fetch.js';
import { McpFailure } from './failure.js';
import { lostAnswer } from './oversize.js';

const NO_RESPONSE = 'The tool server accepted a request without a response.';
const CR = 13;
const LF = 10;
const ID_FIELD = Buffer.from('id:');

/**
 * Wraps a `fetch` so that no request waits for a response that cannot arrive: an event stream that ends and cannot be
 * resumed ends with an error response, which `OneResponse` drops if the server has responded.
 */
export function endingStreams(fetch: FetchLike): FetchLike {
  return async (target, init = {}) => {
    const response = await fetch(target, init);
    const { status, statusText, headers, body, ok } = response;
    const isStream = ok && headers.get('content-type')?.startsWith('text/event-stream') === true;
    if (status !== 202 && !isStream) return response;
    const { id } = readMessage(init.body);
    if (id === null) return response;
    if (status === 202) {
      await body?.cancel();
      throw new McpFailure('unreachable', NO_RESPONSE);
    }
    if (body === null) return response;
    return new Response(withEnd(body, id, init.signal ?? null), { status, statusText, headers });
  };
}

function withEnd(
  body: ReadableStream<Uint8Array>,
  id: number,
  signal: AbortSignal | null,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const ids = new EventIds();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) {
          ids.push(value);
          controller.enqueue(value);
          return;
        }
      } catch (error) {
        if (ids.hasAny || signal?.aborted === true) {
          controller.error(error);
          return;
        }
      }
      // With an id, the SDK resumes the stream.
      if (!ids.hasAny) controller.enqueue(Buffer.from(`\n\ndata: ${JSON.stringify(lostAnswer(id))}\n\n`));
      controller.close();
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Finds out whether events of a stream have ids. */
class EventIds {
  hasAny = false;
  /** How many bytes at the beginning of the line are those of the field; -1: it is another field. */
  #matched = 0;

  push(chunk: Uint8Array): void {
    if (this.hasAny) return;
    for (const byte of chunk) {
      if (byte === LF || byte === CR) this.#matched = 0;
      else if (this.#matched >= 0) {
        this.#matched = byte === ID_FIELD[this.#matched] ? this.#matched + 1 : -1;
        if (this.#matched === ID_FIELD.length) this.hasAny = true;
      }
    }
  }
}

/** Passes on one response to each request of the client, the first, and none to a cancelled one. */
export class OneResponse implements Transport {
  onclose?: Transport['onclose'];
  onerror?: Transport['onerror'];
  onmessage?: Transport['onmessage'];
  readonly #waiting = new Set<number>();

  constructor(private readonly inner: Transport) {
    inner.onclose = () => this.onclose?.();
    inner.onerror = (error) => this.onerror?.(error);
    inner.onmessage = (message, extra) => {
      const isResponse = !('method' in message);
      if (!isResponse || this.#waiting.delete(Number(message.id))) this.onmessage?.(message, extra);
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
      this.#waiting.delete(Number(message.params?.requestId));
    const id = 'method' in message && 'id' in message ? Number(message.id) : null;
    if (id === null) return this.inner.send(message, options);
    this.#waiting.add(id);
    try {
      await this.inner.send(message, options);
    } catch (error) {
      this.#waiting.delete(id);
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
