import { lastPage } from '../last-page.js';
import { randomId } from '../random-id.js';
import { wellFormed } from '../well-formed.js';
import type { Client, SessionEvent } from '../types.js';
import { changed, type Change } from './changes.js';
import { countMissing } from './history.js';
import { EMPTY_VIEW, type View } from './view.js';

/** How many stored messages are read first, and after each turn. */
const FIRST_RECORDS = 1000;
const LATER_RECORDS = 100;

/** Maximum delay before listeners are notified of new text, in milliseconds. */
const FRAME_MS = 40;

/** The view of a session, kept up to date from a client's events, with change listeners. */
export class LiveView {
  readonly #stop = new AbortController();
  readonly #listeners = new Set<() => void>();
  #newest = EMPTY_VIEW;
  #shown = EMPTY_VIEW;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isReading = false;
  /** True if a state has come since the history was asked. */
  #isBehind = false;
  /** How much the history lacks of what is shown: what is too old. */
  #unknowable = 0;

  /**
   * @param client sends the messages and receives the events
   * @param historian reads what snapshots leave out: arguments of tool calls, ids of messages and how turns went; null
   * if no surface provides it
   */
  constructor(
    private readonly client: Pick<Client, 'watch' | 'interrupt'>,
    private readonly historian: Pick<Client, 'historyPage'> | null,
  ) {}

  readonly get = (): View => this.#shown;

  /** Returns a function that unsubscribes. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  };

  /** The view with all events so far; listeners are notified of new text up to 40 ms later. */
  get newest(): View {
    return this.#newest;
  }

  /** Aborts when the view is closed. */
  get closed(): AbortSignal {
    return this.#stop.signal;
  }

  /** Stops to follow the session; later changes are ignored. Does not close the client. */
  close(): void {
    clearTimeout(this.#timer);
    this.#stop.abort();
  }

  /**
   * Follows the session until the view is closed, and yields each event after it was applied.
   * @throws ClientError when the service refuses a request
   */
  async *follow(): AsyncGenerator<SessionEvent, void, undefined> {
    for await (const event of this.client.watch(this.closed)) {
      this.apply(event);
      if (event.type === 'state') this.#readHistory();
      yield event;
    }
  }

  /**
   * Shows a message at once, and removes it when the service refuses it.
   * @param deliver sends the message with this idempotency key
   * @throws the error of the refusal
   */
  async send(text: string, deliver: (idempotencyKey: string) => Promise<void>): Promise<void> {
    const key = randomId();
    this.apply({ type: 'sending', message: { key, text: wellFormed(text) } });
    try {
      await deliver(key);
    } catch (error) {
      this.apply({ type: 'not_sent', key });
      throw error;
    }
  }

  /** Cancels the running and the queued turns. */
  async interrupt(): Promise<void> {
    const { raw } = this.#newest;
    const state = await this.client.interrupt();
    // A state that was received since may be newer.
    if (this.#newest.raw === raw) this.apply({ type: 'state', state });
  }

  /** Applies a change. Batches pieces of text, which arrive faster than a page can render. */
  apply(change: Change): void {
    if (this.closed.aborted) return;
    this.#newest = changed(this.#newest, change);
    if (change.type === 'text') this.#timer ??= setTimeout(this.#show, FRAME_MS);
    else this.#show();
  }

  readonly #show = (): void => {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.closed.aborted || this.#shown === this.#newest) return;
    this.#shown = this.#newest;
    for (const listener of this.#listeners) listener();
  };

  #readHistory(): void {
    const { history, queued } = this.#newest;
    // Of the first messages that seem to wait, the history tells which one is running.
    const isNews = countMissing(this.#newest) > this.#unknowable || (history === null && queued.length > 0);
    if (this.historian === null || !isNews) return;
    if (this.#isReading) {
      this.#isBehind = true;
      return;
    }
    this.#isReading = true;
    this.#isBehind = false;
    const limit = history === null ? FIRST_RECORDS : LATER_RECORDS;
    lastPage(this.historian, limit, this.closed)
      .then(
        (page) => {
          this.apply({ type: 'history', page });
          if (!this.#isBehind) this.#unknowable = countMissing(this.#newest);
        },
        // What only the history has stays unknown; the connection status reports an unreachable service.
        () => undefined,
      )
      .finally(() => {
        this.#isReading = false;
        if (this.#isBehind) this.#readHistory();
      });
  }
}
