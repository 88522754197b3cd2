/**
 * Batches the frames that a stream receives in one turn of the event loop into one write, because each write adds its
 * own chunk of HTTP. Batches with a promise: `process.nextTick` and `queueMicrotask` allocate more per token.
 */
import type { ServerResponse } from 'node:http';
import { isClosed } from '../connections/pending-responses.js';

/** Defers the flush to the microtask queue. */
const SOON = Promise.resolve();

/** Writes the frames of one stream. */
export class FrameWriter {
  #waiting = '';
  readonly #flush = (): void => {
    this.flush();
  };

  constructor(private readonly res: ServerResponse) {}

  /**
   * Queues a text frame for the flush in the current turn of the event loop. Writes a Buffer at once and uncopied: many
   * streams share it.
   */
  write(frame: string | Buffer): void {
    if (typeof frame !== 'string') {
      this.flush();
      if (!isClosed(this.res)) this.res.write(frame);
      return;
    }
    if (this.#waiting === '') void SOON.then(this.#flush);
    this.#waiting += frame;
  }

  /** Writes the queued frames now. */
  flush(): void {
    const frames = this.#waiting;
    if (frames === '') return;
    this.#waiting = '';
    if (!isClosed(this.res)) this.res.write(frames);
  }
}
