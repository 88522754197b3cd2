import type { Client } from 'undici';
import { Connection } from './connection.js';
import { Exchange, type ModelRequest, type OpenResponse, type ResponseListener } from './exchange.js';

/** Timeouts in milliseconds. */
export interface Timeouts {
  /** How long TCP and TLS may take to be established. */
  readonly connectMs: number;
  /**
   * How long a request may go without a byte from the provider, before its response or in it, while the caller reads.
   */
  readonly idleMs: number;
}

/** Reasoning models may be silent for two minutes before their first word, hence three. */
export const DEFAULT_TIMEOUTS: Timeouts = { connectMs: 10_000, idleMs: 180_000 };

const KEEP_ALIVE_MS = 60_000;

/**
 * Sends requests to model providers over kept connections (HTTP/1.1, by undici).
 *
 * It follows no redirect, because a key must not go elsewhere, and asks for no compression. An abort closes the
 * connection at once. A request that is lost on a kept connection before its response begins is sent again, once, on a
 * new one.
 */
export class ModelHttpClient {
  readonly #options: Client.Options;
  readonly #idle = new Map<string, Connection[]>();

  /** @param authorities certificates (PEM) to trust in place of the usual ones */
  constructor(timeouts: Timeouts = DEFAULT_TIMEOUTS, authorities?: Buffer) {
    this.#options = {
      connect: { timeout: timeouts.connectMs, ...(authorities === undefined ? {} : { ca: authorities }) },
      headersTimeout: timeouts.idleMs,
      bodyTimeout: timeouts.idleMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      allowH2: false,
    };
  }

  /** Sends a request. @throws the reason of a signal that has been aborted already */
  open(request: ModelRequest, listener: ResponseListener): OpenResponse {
    request.signal?.throwIfAborted();
    return new Exchange(request, listener, {
      lease: (isFresh) => this.#lease(request.url.origin, isFresh),
      release: (connection) => {
        this.#release(connection);
      },
    });
  }

  #lease(origin: string, isFresh: boolean): Connection {
    const kept = isFresh ? undefined : this.#idle.get(origin)?.pop();
    return (
      kept ??
      new Connection(origin, this.#options, (closed) => {
        this.#forget(closed);
      })
    );
  }

  #release(connection: Connection): void {
    if (!connection.isOpen) {
      connection.destroy();
      return;
    }
    const kept = this.#idle.get(connection.origin);
    if (kept === undefined) this.#idle.set(connection.origin, [connection]);
    else kept.push(connection);
  }

  #forget(connection: Connection): void {
    const kept = this.#idle.get(connection.origin);
    const index = kept?.indexOf(connection) ?? -1;
    if (kept === undefined || index === -1) return;
    kept.splice(index, 1);
    if (kept.length === 0) this.#idle.delete(connection.origin);
    connection.destroy();
  }
}
