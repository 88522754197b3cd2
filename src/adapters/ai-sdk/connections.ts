import http from 'node:http';
import https from 'node:https';
import {
  Exchange,
  type Call,
  type ConnectionTimes,
  type ExchangeListener,
  type OpenExchange,
} from './exchange.js';
import { sharedReads } from './shared-reads.js';

/** Reasoning models may be silent for two minutes before their first word, hence three. */
export const DEFAULT_TIMES: ConnectionTimes = { connectMs: 10_000, idleMs: 180_000 };

const IDLE_SOCKET_MS = 60_000;

/**
 * Requests on `node:http` over kept connections. No redirect is followed (a key must not go elsewhere), nothing is compressed.
 * Aborting destroys the connection at once. A kept connection that turns out dead before the first byte of an answer is
 * replaced once, silently.
 */
export class Connections {
  readonly #agents: { readonly http: http.Agent; readonly https: https.Agent };

  /** @param authorities certificates (PEM) to trust in place of the usual ones */
  constructor(
    private readonly times: ConnectionTimes = DEFAULT_TIMES,
    authorities?: Buffer,
  ) {
    const options = { keepAlive: true, timeout: IDLE_SOCKET_MS, onread: sharedReads };
    const trust = authorities === undefined ? {} : { ca: authorities };
    this.#agents = { http: new http.Agent(options), https: new https.Agent({ ...options, ...trust }) };
  }

  /** Sends a request. @throws the reason of a signal that is aborted already */
  open(call: Call, listener: ExchangeListener): OpenExchange {
    const agent = call.target.options.protocol === 'https:' ? this.#agents.https : this.#agents.http;
    return new Exchange(call, agent, this.times, listener);
  }
}
