/**
 * Writes what one round of the event loop gives a stream in one piece. A model that is faster than the service gives
 * many tokens at once, and each write of its own has its own frame of HTTP around it. It waits by a promise: by
 * `process.nextTick` or `queueMicrotask` each token makes three times the garbage.
 */
import type { ServerResponse } from 'node:http';
import { isClosed } from '../connections/pending-responses.js';

/** As soon as what runs is through. */
const SOON = Promise.resolve();

/** The frames of one stream. */
export class FrameWriter {
  #waiting = '';
  readonly #flush = (): void => {
    this.flush();
  };

  constructor(private readonly res: ServerResponse) {}

  /**
   * Writes a frame before the loop goes on. Bytes go out as they are: they are shared by many streams, and come one at
   * a time.
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

  /** Writes what waits now. */
  flush(): void {
    const frames = this.#waiting;
    if (frames === '') return;
    this.#waiting = '';
    if (!isClosed(this.res)) this.res.write(frames);
  }
}
