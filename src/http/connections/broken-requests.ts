import { STATUS_CODES, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Connections } from './connections.js';
import type { HeaderList } from '../response/header-list.js';
import type { Dialect, Failure } from '../response/errors.js';
import { newRequestId } from '../request/request-id.js';

/** Time in milliseconds before the connection is cut, so that a client that is still sending can read the response. */
const LINGER_MS = 2000;

/** What follows the headers of a request. */
const HEAD_END = '\r\n\r\n';

/** An error of Node's parser. See "Event: 'clientError'" in Node's documentation of `http`. */
interface ParseError extends NodeJS.ErrnoException {
  /** The bytes that the parser was reading. */
  readonly rawPacket?: Buffer;
  /** How many of them it read before it found the error. */
  readonly bytesParsed?: number;
}

/** Sends a JSON error response to requests that Node's parser rejects, if the connection still allows it. */
export function answerBrokenRequests(
  server: Server,
  connections: Pick<Connections, 'responseOf'>,
  options: { readonly headers: HeaderList; readonly dialect: Dialect },
): void {
  const answered = new WeakSet<Duplex>();
  server.on('clientError', (error: ParseError, socket) => {
    if (answered.has(socket)) return;
    answered.add(socket);
    if (error.code === 'ECONNRESET') socket.destroy(error);
    else
      afterThoseBefore(connections, socket, () => {
        refuse(error, socket);
      });
  });

  function refuse(error: ParseError, socket: Duplex): void {
    const busy = connections.responseOf(socket);
    // No response may follow one that is still being sent, or one that closes its connection.
    const hasSaidAll =
      busy !== undefined && busy.headersSent && (!busy.writableFinished || !busy.shouldKeepAlive);
    if (!socket.writable || hasSaidAll) {
      socket.destroy(error);
      return;
    }
    const { status, reason } = describe(error.code);
    const requestId = newRequestId();
    const failure: Failure = { status, code: 'invalid', message: reason, details: [] };
    const body = JSON.stringify(options.dialect.error(failure, requestId));
    const head = [
      `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${String(Buffer.byteLength(body))}`,
      `X-Request-Id: ${requestId}`,
      'Connection: close',
    ];
    for (let at = 0; at < options.headers.length; at += 2)
      head.push(`${options.headers[at] ?? ''}: ${options.headers[at + 1] ?? ''}`);
    // The response to HEAD has no content (RFC 9110 §9.3.2).
    socket.end(`${head.join('\r\n')}\r\n\r\n${isHead(error) ? '' : body}`);
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  }
}

/**
 * Calls `act` once the responses to earlier requests were sent, because responses follow the order of requests
 * (RFC 9112 §9.3.2). Does not wait when the broken request is the last one itself (its message is incomplete), nor for a
 * response that is still being written, such as a stream, which may never end.
 */
function afterThoseBefore(
  connections: Pick<Connections, 'responseOf'>,
  socket: Duplex,
  act: () => void,
): void {
  const busy = connections.responseOf(socket);
  const isOpen = busy !== undefined && busy.headersSent && !busy.writableEnded;
  if (busy === undefined || busy.closed || isOpen || !busy.req.complete) act();
  else
    busy.once('close', () => {
      afterThoseBefore(connections, socket, act);
    });
}

/** Whether the broken request is HEAD, as far as the bytes that the parser was reading show. */
function isHead({ rawPacket, bytesParsed }: ParseError): boolean {
  const read = rawPacket?.toString('latin1', 0, bytesParsed) ?? '';
  const before = read.lastIndexOf(HEAD_END);
  return read.startsWith('HEAD ', before < 0 ? 0 : before + HEAD_END.length);
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
