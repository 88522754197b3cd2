import { Client, type Dispatcher } from 'undici';

/**
 * One kept connection to a provider, which carries one request at a time.
 *
 * A pool of undici does not tell which connection a request used. It is needed here: a request that was lost on a
 * connection that had already served a response may be sent again, because the provider closed an idle connection; any
 * other lost request may have reached the model.
 */
export class Connection {
  readonly #client: Client;
  #isOpen = false;
  #hasServed = false;

  constructor(
    readonly origin: string,
    options: Client.Options,
    /** Called when the provider, or the keep-alive timeout, has closed the connection. */
    onClosed: (connection: Connection) => void,
  ) {
    this.#client = new Client(origin, options);
    this.#client.on('connect', () => {
      this.#isOpen = true;
    });
    this.#client.on('disconnect', () => {
      this.#isOpen = false;
      this.#hasServed = false;
      onClosed(this);
    });
  }

  /** True while the connection is established. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** True once the present connection has carried a whole response. */
  get hasServed(): boolean {
    return this.#hasServed;
  }

  /** Sends a request, over a new connection if the last one was closed. */
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#client.dispatch(options, handler);
  }

  /** Notes that a response ended as it should. */
  served(): void {
    this.#hasServed = true;
  }

  /** Closes the connection at once. */
  destroy(): void {
    // Only a second call could reject, and it would say that the client is destroyed.
    this.#client.destroy().catch(() => undefined);
  }
}
