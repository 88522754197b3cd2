import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { addHeaders, type HeaderList } from '../response/header-list.js';
import { areBodiesCrowded } from '../response/waiting-bodies.js';

interface Connection {
  /** The number of requests without a finished response; more than one when a client pipelines (RFC 9112 §9.3.2). */
  busy: number;
  /** The current or last response. */
  response: ServerResponse | undefined;
  /** `socket.bytesRead` at the first check after the last response. */
  bytesRead: number;
  /** The number of consecutive checks that found the connection idle. */
  idleLooks: number;
  /** The bytes that the socket had taken at the last check; undefined: no data waited. */
  taken: number | undefined;
  /** The number of consecutive checks in which the socket has taken none of the waiting data. */
  stalledLooks: number;
}

const LOOK_MS = 5_000;

/**
 * How long data may wait for a client that reads none of it: a base time in milliseconds, plus a second for this many
 * waiting bytes, because the progress within one large write is not visible.
 */
const STALL_MS = 60_000;
const STALL_BYTES_A_SECOND = 32_768;
/** The same, in milliseconds, while the long bodies that wait take much memory. */
const CROWDED_STALL_MS = 10_000;

/** Time in milliseconds for a request's headers to arrive before Node refuses the request (`headersTimeout`). */
export const HEADERS_MS = 30_000;

/**
 * Tracks the open connections of a server. Every few seconds it closes idle ones, and those whose client does not read
 * its response. Replaces Node's `keepAliveTimeout`, which must be 0, because Node keeps connections open that send only
 * line breaks.
 */
export class Connections {
  readonly #open = new Map<Socket, Connection>();
  readonly #keepAlive: HeaderList;

  readonly #idleMs: number;
  readonly #lookMs: number;
  readonly #isOpenStream: (res: ServerResponse) => boolean;

  /**
   * @param options `idleMs`: minimum idle time in milliseconds after a response; the actual time may be two checks
   * longer. `isOpenStream`: true for an event stream that has not ended, which has its own limit of waiting data
   */
  constructor(
    server: Server,
    options: {
      readonly idleMs: number;
      readonly lookMs?: number;
      readonly isOpenStream: (res: ServerResponse) => boolean;
    },
  ) {
    const { idleMs, lookMs = LOOK_MS, isOpenStream } = options;
    this.#idleMs = idleMs;
    this.#lookMs = lookMs;
    this.#isOpenStream = isOpenStream;
    const open = this.#open;
    this.#keepAlive = ['Keep-Alive', `timeout=${String(Math.floor(idleMs / 1000))}`];
    // Shared by all connections to save memory.
    function forget(this: Socket): void {
      open.delete(this);
    }
    server.on('connection', (socket: Socket) => {
      open.set(socket, newConnection());
      socket.on('close', forget);
    });
    const timer = setInterval(() => {
      this.look();
    }, lookMs).unref();
    server.once('close', () => {
      clearInterval(timer);
    });
  }

  /** Registers a request, and adds a `Keep-Alive` header to its response. */
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

  /** Registers the end of a request's response. */
  end({ socket }: IncomingMessage): void {
    const connection = this.#open.get(socket);
    if (connection !== undefined) connection.busy--;
  }

  /** Returns the current or last response of a connection; undefined before the first. */
  responseOf(socket: Duplex): ServerResponse | undefined {
    return socket instanceof Socket ? this.#open.get(socket)?.response : undefined;
  }

  /**
   * Checks each connection once, and closes those that were idle for too long, or whose client has not read for too
   * long.
   */
  look(): void {
    for (const [socket, connection] of this.#open) {
      if (connection.busy > 0 ? this.#isStalled(socket, connection) : this.#isIdle(socket, connection))
        socket.destroy();
    }
  }

  /** True when data waits for too long without the socket taking any of it. */
  #isStalled(socket: Socket, connection: Connection): boolean {
    const { response } = connection;
    const waiting = socket.writableLength;
    const taken = waiting === 0 ? undefined : socket.bytesWritten - waiting;
    const hasStalled = taken !== undefined && taken === connection.taken;
    connection.taken = taken;
    if (!hasStalled || (response !== undefined && this.#isOpenStream(response))) {
      connection.stalledLooks = 0;
      return false;
    }
    const stalledMs = ++connection.stalledLooks * this.#lookMs;
    const allowedMs = STALL_MS + (waiting / STALL_BYTES_A_SECOND) * 1000;
    return stalledMs >= (areBodiesCrowded() ? Math.min(allowedMs, CROWDED_STALL_MS) : allowedMs);
  }

  /**
   * True when a connection without an open request was idle for too long. A connection that has received bytes gets
   * extra time for the headers of a request; bytes that do not become a request, such as line breaks (RFC 9112 §2.2),
   * do not keep it open.
   */
  #isIdle({ bytesRead }: Socket, connection: Connection): boolean {
    if (connection.idleLooks === 0) connection.bytesRead = bytesRead;
    const hasBegun = bytesRead !== connection.bytesRead;
    // The first check may directly follow the response, so it counts as 0 ms.
    const idleMs = connection.idleLooks++ * this.#lookMs;
    return idleMs >= this.#idleMs + (hasBegun ? HEADERS_MS : 0);
  }
}

function newConnection(): Connection {
  return {
    busy: 0,
    response: undefined,
    bytesRead: 0,
    idleLooks: 0,
    taken: undefined,
    stalledLooks: 0,
  };
}
