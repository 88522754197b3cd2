import { createParser, type EventSourceMessage } from 'eventsource-parser';

/** A stream that is being read: everything that came so far, as bytes and as events. */
export class OpenStream {
  bytes = '';
  readonly events: EventSourceMessage[] = [];
  #ended = false;
  #wake: (() => void)[] = [];
  readonly #parser = createParser({ onEvent: (event) => this.events.push(event) });

  constructor(
    readonly response: Response,
    private readonly abort: () => void,
  ) {
    void this.#read();
  }

  /** Resolves once this holds. @throws Error when the stream ends without */
  async until(holds: (stream: this) => boolean): Promise<void> {
    while (!holds(this)) {
      if (this.#ended) throw new Error(`the stream ended with:\n${this.bytes}`);
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  /** Resolves with the whole stream once it has ended. */
  async end(): Promise<string> {
    while (!this.#ended) await new Promise<void>((resolve) => this.#wake.push(resolve));
    return this.bytes;
  }

  /** Goes away. */
  close(): void {
    this.abort();
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    try {
      const body: AsyncIterable<Uint8Array> = this.response.body ?? new ReadableStream<Uint8Array>();
      for await (const chunk of body) {
        const text = decoder.decode(chunk, { stream: true });
        this.bytes += text;
        this.#parser.feed(text);
        this.#notify();
      }
    } catch {
      // Cut off, by this side or the other: the end all the same.
    }
    this.#ended = true;
    this.#notify();
  }

  #notify(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const resolve of waiting) resolve();
  }
}

/** Opens a stream; resolves with its headers. */
export async function openStream(url: string, init: RequestInit = {}): Promise<OpenStream> {
  const controller = new AbortController();
  const response = await fetch(url, { ...init, signal: controller.signal });
  return new OpenStream(response, () => {
    controller.abort();
  });
}
