import type { UIMessageChunk } from 'ai';
import { linked, type Life } from '../pacing.js';
import type { SessionEvent } from '../types.js';
import type { Wire } from '../wire.js';
import { TurnChunks } from './turn-chunks.js';

/** Where the events of a reply come from. */
export interface ReplySource {
  /** Closed after the last event. */
  readonly wire: Wire;
  /**
   * Returns the events until the signal aborts.
   * @param onAccepted called once the service has stored the message
   */
  readonly events: (signal: AbortSignal, onAccepted: () => void) => AsyncIterable<SessionEvent>;
}

/** A reply that is requested and read. */
export class Reply {
  readonly #leaving: Life;
  #accepted: Promise<void> = Promise.resolve();

  /**
   * @param abortSignal its abort leaves the reply
   * @param onEnd called when nothing of the reply is requested or read any more
   */
  constructor(
    abortSignal: AbortSignal | undefined,
    private readonly onEnd: () => void,
  ) {
    this.#leaving = linked(abortSignal);
  }

  /** Aborts when the reply is left. */
  get left(): AbortSignal {
    return this.#leaving.signal;
  }

  /**
   * Stops reading the reply. A message that was not sent before stays unsent.
   * @returns resolves once the service has accepted the message, or will not
   */
  async leave(): Promise<void> {
    this.#leaving.abort();
    await this.#accepted;
  }

  /**
   * Returns the chunks of the reply. When it is left, the chunks end at once, but the events only after the service has
   * accepted the message: an earlier end could lose it.
   */
  chunks({ wire, events }: ReplySource): ReadableStream<UIMessageChunk> {
    const chunks = new TurnChunks();
    const end = new AbortController();
    let output: ReadableStreamDefaultController<UIMessageChunk> | undefined;
    let accept: () => void = () => undefined;
    this.#accepted = new Promise<void>((resolve) => (accept = resolve));

    const close = (last?: UIMessageChunk): void => {
      if (last !== undefined) output?.enqueue(last);
      output?.close();
      output = undefined;
    };
    const pump = async (): Promise<void> => {
      try {
        for await (const event of events(end.signal, accept)) {
          for (const chunk of chunks.of(event)) output?.enqueue(chunk);
        }
        close();
      } catch (error) {
        output?.error(error);
        output = undefined;
      }
      accept();
      wire.close();
      this.end();
    };
    const onLeave = async (): Promise<void> => {
      close({ type: 'abort' });
      await this.#accepted;
      end.abort();
    };
    const stream = new ReadableStream<UIMessageChunk>({
      start: (controller) => {
        output = controller;
      },
      cancel: () => {
        output = undefined;
        this.#leaving.abort();
      },
    });
    this.left.addEventListener('abort', () => void onLeave(), { once: true });
    void pump();
    return stream;
  }

  /** Ends a reply that is not read any more. */
  end(): void {
    this.#leaving.abort();
    this.onEnd();
  }
}
