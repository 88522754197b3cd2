import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { addHeaders, type HeaderList } from '../response/header-list.js';

interface Connection {
  /** Requests whose response is not over; more than one when a client pipelines (RFC 9112 §9.3.2). */
  busy: number;
  /** The response that it sends, or sent last. */
  response: ServerResponse | undefined;
  /** `socket.bytesRead` at the first look after its last response. */
  bytesRead: number;
  /** The number of looks in a row that found it idle. */
  idleLooks: number;
}

const LOOK_MS = 5_000;

/** A request that has begun to come may take so long for its head: then Node refuses it (`headersTimeout`). */
export const HEADERS_MS = 30_000;

/**
 * The open connections of a server. Closes the idle ones in place of Node's `keepAliveTimeout`, which must be 0: also
 * those that bring line breaks and no request, which Node keeps open. Looks at all of them every few seconds.
 */
export class Connections {
  readonly #open = new Map<Socket, Connection>();
  readonly #keepAlive: HeaderList;

  /** @param idleMs how long a connection is kept after an answer, at least; it may be two looks longer */
  constructor(
    server: Server,
    private readonly idleMs: number,
    private readonly lookMs = LOOK_MS,
  ) {
    const open = this.#open;
    this.#keepAlive = ['Keep-Alive', `timeout=${String(Math.floor(idleMs / 1000))}`];
    // One function for all connections.
    function forget(this: Socket): void {
      open.delete(this);
    }
    server.on('connection', (socket: Socket) => {
      open.set(socket, { busy: 0, response: undefined, bytesRead: 0, idleLooks: 0 });
      socket.on('close', forget);
    });
    const timer = setInterval(() => {
      this.look();
    }, lookMs).unref();
    server.once('close', () => {
      clearInterval(timer);
    });
  }

  /** Notes a request, and announces on its response how long the connection is kept after it. */
  begin(res: ServerResponse): void {
    if (res.shouldKeepAlive) addHeaders(res, this.#keepAlive);
    const connection = this.#open.get(res.req.socket);
    if (connection === undefined) return;
    if (res.socket !== null) connection.response = res;
    else
      res.once('socket', () => {
        connection.response = res;
      });
    connection.busy++;
    connection.idleLooks = 0;
  }

  /** Notes the end of its response. */
  end({ socket }: IncomingMessage): void {
    const connection = this.#open.get(socket);
    if (connection !== undefined) connection.busy--;
  }

  /** The response that a connection sends, or sent last; undefined before the first. */
  responseOf(socket: Duplex): ServerResponse | undefined {
    return socket instanceof Socket ? this.#open.get(socket)?.response : undefined;
  }

  /**
   * Looks at each once, and closes those that were idle for long enough. What has come since the last look may be the
   * beginning of a request, which may still become one; or it is nothing, such as the line breaks that may stand before
   * a request (RFC 9112 §2.2), and keeps no connection open.
   */
  look(): void {
    for (const [socket, connection] of this.#open) {
      if (connection.busy > 0) continue;
      const { bytesRead } = socket;
      if (connection.idleLooks === 0) connection.bytesRead = bytesRead;
      const hasBegun = bytesRead !== connection.bytesRead;
      // The first look may follow the answer at once.
      const idleMs = connection.idleLooks++ * this.lookMs;
      if (idleMs >= this.idleMs + (hasBegun ? HEADERS_MS : 0)) socket.destroy();
    }
  }
}
