import type { Dispatcher } from 'undici';
import { basicAuthorization } from '../../platform/net/basic-authorization.js';
import type { Connection } from './connection.js';
import { codeOf } from '../../platform/node/error-code.js';
import { ConnectionError, type ConnectionFault } from './connection-error.js';

/** A request to a provider. */
export interface ModelRequest {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  /** `Host` and `Content-Length` are always set by the client. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** The status line and the headers of a response. */
export interface ResponseHead {
  readonly status: number;
  readonly statusText: string;
  /** By lower-case name; a list if the header occurred more than once. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** Controls a request in progress. */
export interface OpenResponse {
  /** Stops reading the body. The idle timeout is suspended until `resume`. */
  pause(): void;
  resume(): void;
  /** Closes the connection immediately. Does nothing after the end of the response. */
  cancel(): void;
}

export interface ResponseListener {
  onResponse(head: ResponseHead, response: OpenResponse): void;
  onData(bytes: Buffer): void;
  /** The response is complete. */
  onEnd(): void;
  /**
   * Called at most once, and not after `onEnd` or `cancel`.
   * @param reason a ConnectionError, or the reason of the signal
   */
  onFail(reason: unknown): void;
}

/** The pool that an exchange leases its connections from. */
export interface Connections {
  /** @param isFresh true: a new connection, never an idle one */
  lease(isFresh: boolean): Connection;
  release(connection: Connection): void;
}

/** Error codes of undici and Node for a lost connection. */
const LOST = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);
/** Error codes of undici for a response that it cannot parse completely. */
const BROKEN = new Set(['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'UND_ERR_HEADERS_OVERFLOW']);
const TIMEOUTS: ReadonlyMap<string | undefined, ConnectionFault> = new Map([
  ['UND_ERR_CONNECT_TIMEOUT', 'connect_timeout'],
  ['UND_ERR_HEADERS_TIMEOUT', 'idle'],
  ['UND_ERR_BODY_TIMEOUT', 'idle'],
]);

/** One request and its response, including the retry on a new connection. */
export class Exchange implements OpenResponse, Dispatcher.DispatchHandler {
  #connection: Connection;
  #controller: Dispatcher.DispatchController | undefined;
  /** True once the request was sent on a reused connection. */
  #isOnKept = false;
  #isRepeated = false;
  #hasHead = false;
  #isOver = false;
  readonly #abort = (): void => {
    this.#fail(this.request.signal?.reason);
    this.#close();
  };

  constructor(
    private readonly request: ModelRequest,
    private readonly listener: ResponseListener,
    private readonly connections: Connections,
  ) {
    request.signal?.addEventListener('abort', this.#abort, { once: true });
    this.#connection = connections.lease(false);
    this.#send();
  }

  pause(): void {
    this.#controller?.pause();
  }

  resume(): void {
    this.#controller?.resume();
  }

  cancel(): void {
    if (this.#isOver) return;
    this.#settle();
    this.#close();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#isOnKept = this.#connection.hasServed;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
    statusText = '',
  ): void {
    // An informational response (RFC 9110 section 15.2) precedes the final one.
    if (this.#isOver || status < 200) return;
    this.#hasHead = true;
    this.listener.onResponse({ status, statusText, headers }, this);
  }

  onResponseData(_controller: Dispatcher.DispatchController, bytes: Buffer): void {
    // undici delivers an empty chunk when a paused response resumes; passing it on would make an eager reader spin.
    if (!this.#isOver && bytes.length > 0) this.listener.onData(bytes);
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    this.#settle();
    this.#connection.served();
    this.connections.release(this.#connection);
    this.listener.onEnd();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#isOver) return;
    const code = codeOf(error);
    const isLost = LOST.has(code ?? '');
    if (isLost && !this.#hasHead && this.#isOnKept && !this.#isRepeated) this.#repeat();
    else {
      this.#fail(new ConnectionError(this.#faultOf(code), code, { cause: error }));
      this.#close();
    }
  }

  #send(): void {
    const { url, method, body } = this.request;
    const options = {
      path: url.pathname + url.search,
      method,
      headers: headersOf(this.request),
      body: body ?? null,
    };
    this.#connection.dispatch(options, this);
  }

  #repeat(): void {
    this.#isRepeated = true;
    this.#close();
    this.#connection = this.connections.lease(true);
    this.#send();
  }

  #faultOf(code: string | undefined): ConnectionFault {
    const timeout = TIMEOUTS.get(code);
    if (timeout !== undefined) return timeout;
    const isCut =
      this.#hasHead || LOST.has(code ?? '') || BROKEN.has(code ?? '') || code?.startsWith('HPE_') === true;
    return isCut ? 'cut' : 'unreachable';
  }

  #fail(reason: unknown): void {
    if (this.#isOver) return;
    this.#settle();
    this.listener.onFail(reason);
  }

  #settle(): void {
    this.#isOver = true;
    this.request.signal?.removeEventListener('abort', this.#abort);
  }

  #close(): void {
    this.#connection.destroy();
  }
}

function headersOf({ url, headers }: ModelRequest): Record<string, string> {
  const own = Object.entries(headers).filter(([name]) => !/^(?:host|content-length)$/i.test(name));
  const sent = Object.fromEntries(own);
  const isAuthorized = own.some(([name]) => name.toLowerCase() === 'authorization');
  const authorization = isAuthorized ? undefined : basicAuthorization(url);
  return authorization === undefined ? sent : { ...sent, authorization };
}
