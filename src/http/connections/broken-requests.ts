import { STATUS_CODES, type Server } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Connections } from './connections.js';
import type { HeaderList } from '../response/header-list.js';
import { toFailure, type Dialect, type Failure } from '../response/errors.js';
import { exchangeOf } from '../request/exchange.js';
import type { CountUnparsed, Quota } from '../guards/rate-limit.js';
import { HEADERS_TOO_LARGE, WRONG_VERSION } from '../guards/screening.js';
import { newRequestId } from '../request/request-id.js';

/** Time in milliseconds before the connection is cut, so that a client that is still sending can read the response. */
const LINGER_MS = 2000;

/** Limit of the request line and headers together, in bytes. It is large because messages are sent in the URL. */
export const MAX_HEADER_BYTES = 1_048_576;

/** What follows the headers of a request. */
const HEAD_END = '\r\n\r\n';

/** An error of Node's parser. See "Event: 'clientError'" in Node's documentation of `http`. */
interface ParseError extends NodeJS.ErrnoException {
  /** The bytes that the parser was reading. */
  readonly rawPacket?: Buffer;
  /** How many of them it read before it found the error. */
  readonly bytesParsed?: number;
}

/** A response to a request that never reached the router. */
interface Refused {
  readonly status: number;
  readonly requestId: string;
  /** Since the parser rejected the request. */
  readonly milliseconds: number;
}

/**
 * Sends a JSON error response to requests that Node's parser rejects, if the connection still allows it.
 * @param options `answered`: called for each response, unless the request had reached the router before its body broke:
 * the response of the router then has a log line of its own
 */
export function answerBrokenRequests(
  server: Server,
  connections: Pick<Connections, 'responseOf'>,
  options: {
    readonly headers: HeaderList;
    readonly dialect: Dialect;
    /** Undefined: such requests are not limited. */
    readonly countUnparsed: CountUnparsed | undefined;
    readonly answered: (refused: Refused) => void;
  },
): void {
  const { dialect } = options;
  const answered = new WeakSet<Duplex>();
  server.on('clientError', (error: ParseError, socket) => {
    if (answered.has(socket)) return;
    answered.add(socket);
    const rejectedAt = performance.now();
    if (error.code === 'ECONNRESET' || isSilent(socket)) socket.destroy(error);
    else
      afterThoseBefore(connections, socket, () => {
        refuse(error, socket, rejectedAt);
      });
  });

  function refuse(error: ParseError, socket: Duplex, rejectedAt: number): void {
    const busy = connections.responseOf(socket);
    // No response may follow one that is still being sent, or one that closes its connection.
    const hasSaidAll =
      busy !== undefined && busy.headersSent && (!busy.writableFinished || !busy.shouldKeepAlive);
    if (!socket.writable || hasSaidAll) {
      socket.destroy(error);
      return;
    }
    const routed = busy?.req.complete === false ? exchangeOf(busy.req) : undefined;
    const requestId = routed?.requestId ?? newRequestId();
    const quota = routed === undefined && socket instanceof Socket ? quotaOf(socket) : undefined;
    const failure = quota?.refusal === undefined ? describe(error.code) : toFailure(quota.refusal, dialect);
    const { status, retryAfter } = failure;
    const body = JSON.stringify(dialect.error(failure, requestId));
    const head = [
      `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${String(Buffer.byteLength(body))}`,
      `X-Request-Id: ${requestId}`,
      'Connection: close',
    ];
    if (retryAfter !== undefined) head.push(`Retry-After: ${String(retryAfter)}`);
    const headers = [...options.headers, ...(quota?.headers ?? [])];
    for (let at = 0; at < headers.length; at += 2)
      head.push(`${headers[at] ?? ''}: ${headers[at + 1] ?? ''}`);
    // The response to HEAD has no content (RFC 9110 §9.3.2).
    socket.end(`${head.join('\r\n')}\r\n\r\n${isHead(error) ? '' : body}`);
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
    if (busy !== undefined && routed !== undefined) busy.statusCode = status;
    else options.answered({ status, requestId, milliseconds: performance.now() - rejectedAt });
  }

  /** The size of the request is unknown: at most all that the connection has received, and the limit of headers. */
  function quotaOf(socket: Socket): Quota | undefined {
    return options.countUnparsed?.(socket, Math.min(socket.bytesRead, MAX_HEADER_BYTES));
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

/** True for a connection that was opened in advance, by a browser or a load balancer, and was not used. */
function isSilent(socket: Duplex): boolean {
  return socket instanceof Socket && socket.bytesRead === 0;
}

/** Whether the broken request is HEAD, as far as the bytes that the parser was reading show. */
function isHead({ rawPacket, bytesParsed }: ParseError): boolean {
  const read = rawPacket?.toString('latin1', 0, bytesParsed) ?? '';
  const before = read.lastIndexOf(HEAD_END);
  return read.startsWith('HEAD ', before < 0 ? 0 : before + HEAD_END.length);
}

function describe(code: string | undefined): Failure {
  const [status, message] = reasonOf(code);
  return { status, code: 'invalid', message, details: [] };
}

function reasonOf(code: string | undefined): [status: number, reason: string] {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return [431, HEADERS_TOO_LARGE];
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return [408, 'the request did not arrive in time'];
    // The second error is that of HTTP/2 without an upgrade.
    case 'HPE_INVALID_VERSION':
    case 'HPE_PAUSED_H2_UPGRADE':
      return [505, WRONG_VERSION];
    // The second error is that of a URL with a space: the text after the space is not an HTTP version.
    case 'HPE_INVALID_URL':
    case 'HPE_INVALID_CONSTANT':
      return [400, 'the URL must be percent-encoded UTF-8: encode a space as %20 and é as %C3%A9'];
    default:
      return [400, 'the request is not valid HTTP'];
  }
}
