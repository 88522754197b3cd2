import { STATUS_CODES, type Server, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Dialect, Failure } from './errors.js';
import { randomId } from './random-ids.js';

/** How long a client that still sends may go on before its connection is cut, so that it can read the answer. */
const LINGER_MS = 2000;

/** Where a connection carries the answer that it is busy with, or was last. Not a WeakMap: see `EXCHANGE`. */
const ANSWER: unique symbol = Symbol('answer');

declare module 'node:net' {
  interface Socket {
    [ANSWER]?: ServerResponse;
  }
}

/** Notes which answer a connection is busy with, from when it has it. */
export function beginAnswer(res: ServerResponse): void {
  res.req.socket[ANSWER] = res;
}

/** Answers requests that Node's parser refuses, in JSON, where the connection still allows it. Needs `beginAnswer`. */
export function answerBrokenRequests(
  server: Server,
  options: { readonly guardLines: string; readonly dialect: Dialect },
): void {
  const answered = new WeakSet<Duplex>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (answered.has(socket)) return;
    answered.add(socket);
    if (error.code === 'ECONNRESET') socket.destroy(error);
    else
      afterThoseBefore(socket, () => {
        refuse(error, socket);
      });
  });

  function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
    const busy = answerOf(socket);
    // In the middle of an answer, or after one that announced itself as the last, nothing more may be said.
    const hasSaidAll =
      busy !== undefined && busy.headersSent && (!busy.writableFinished || !busy.shouldKeepAlive);
    if (!socket.writable || hasSaidAll) {
      socket.destroy(error);
      return;
    }
    const { status, reason } = describe(error.code);
    const requestId = randomId();
    const failure: Failure = { status, code: 'invalid', message: reason, details: [] };
    const body = JSON.stringify(options.dialect.error(failure, requestId));
    const head = [
      `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${String(Buffer.byteLength(body))}`,
      `X-Request-Id: ${requestId}`,
      'Connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n${options.guardLines}\r\n${body}`);
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  }
}

/**
 * Answers come in the order of their requests (RFC 9112 §9.3.2): a message that was taken must not seem to be refused.
 * A request that has not come whole is the broken one itself. An answer that is still being written may go on for ever;
 * one that has ended only has to go out.
 */
function afterThoseBefore(socket: Duplex, act: () => void): void {
  const busy = answerOf(socket);
  const isOpen = busy !== undefined && busy.headersSent && !busy.writableEnded;
  if (busy === undefined || busy.closed || isOpen || !busy.req.complete) act();
  else
    busy.once('close', () => {
      afterThoseBefore(socket, act);
    });
}

function answerOf(socket: Duplex): ServerResponse | undefined {
  return socket instanceof Socket ? socket[ANSWER] : undefined;
}

function describe(code: string | undefined): { status: number; reason: string } {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, reason: 'the request line and headers are larger than 1 MiB' };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, reason: 'the request did not arrive in time' };
    default:
      return { status: 400, reason: 'the request is not valid HTTP' };
  }
}
