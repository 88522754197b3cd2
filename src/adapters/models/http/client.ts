import type { Client } from 'undici';
import { Connection } from './connection.js';
import { Exchange, type ModelRequest, type OpenResponse, type ResponseListener } from './exchange.js';

/** Timeouts in milliseconds. */
export interface Timeouts {
  /** How long it may take to establish TCP and TLS. */
  readonly connectMs: number;
  /** How long the provider may send nothing, before or during a response, while the caller reads. */
  readonly idleMs: number;
}

/** The idle timeout is three minutes, because reasoning models may send nothing for two before their first token. */
export const DEFAULT_TIMEOUTS: Timeouts = { connectMs: 10_000, idleMs: 180_000 };

const KEEP_ALIVE_MS = 60_000;

/**
 * Sends requests to model providers over keep-alive connections (HTTP/1.1, by undici).
 *
 * It follows no redirect, so that an API key never reaches another host, and requests no compression. An abort closes
 * the connection immediately. If a reused connection is lost before the response begins, the request is retried once on
 * a new connection.
 */
export class ModelHttpClient {
  readonly #options: Client.Options;
  readonly #idle = new Map<string, Connection[]>();

  /** @param authorities CA certificates (PEM) that replace the default ones */
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

  /**
   * Sends a request.
   * @throws the reason of the signal, if it is already aborted
   */
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
