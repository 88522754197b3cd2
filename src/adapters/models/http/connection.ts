import { Client, type Dispatcher } from 'undici';

/**
 * One keep-alive connection to a provider, which carries one request at a time.
 *
 * It replaces an undici `Pool`, which does not expose the connection that a request used. The retry needs it: a request
 * that was lost on a reused connection is safe to retry, because the provider closed an idle connection; any other lost
 * request may have reached the model.
 */
export class Connection {
  readonly #client: Client;
  #isOpen = false;
  #hasServed = false;

  constructor(
    readonly origin: string,
    options: Client.Options,
    /** Called after the provider or the keep-alive timeout has closed the connection. */
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

  /** True once the current connection has carried a complete response. */
  get hasServed(): boolean {
    return this.#hasServed;
  }

  /** Sends a request, on a new connection if the last one was closed. */
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#client.dispatch(options, handler);
  }

  /** Records that a response was received completely. */
  served(): void {
    this.#hasServed = true;
  }

  /** Closes the connection immediately. */
  destroy(): void {
    // Only a second call rejects, because the client is already destroyed.
    this.#client.destroy().catch(() => undefined);
  }
}
