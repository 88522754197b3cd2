import type { Feed } from '../../core/model/feed.js';
import type { Update } from '../../core/model/update.js';

/** A feed without items, which ends when it is closed. */
export class SilentFeed implements Feed<Update> {
  readonly overflowed = false;
  #end: () => void = () => undefined;
  readonly #ended = new Promise<void>((resolve) => {
    this.#end = resolve;
  });

  each(): Promise<void> {
    return this.#ended;
  }

  close(): void {
    this.#end();
  }
}
