/**
 * Requests to providers, all with the same listeners. Measured: a closure for each, and what Node puts around one that is to be called once, were a twelfth of
 * what a stream holds while its turn runs, which the collector copies twice.
 */
import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { codeOf, ConnectionError, type ConnectionFault } from './connection-error.js';
import { headOf, type RequestHead } from './request-head.js';
import { Silence } from './silence.js';

/** Times in milliseconds. */
export interface ConnectionTimes {
  /** How long TCP and TLS may take to be established. */
  readonly connectMs: number;
  /** How long a request may go without a byte from the provider, before its answer or in it. */
  readonly idleMs: number;
}

/** A request to a provider. */
export interface Call extends RequestHead {
  readonly signal: AbortSignal | undefined;
}

/** A request that was sent, and its answer. */
export interface OpenExchange {
  /** To be called for each piece of the answer. */
  heard(): void;
  /** Destroys the connection at once. After the end of a complete answer it does nothing. */
  cancel(): void;
}

/** Is told how an exchange goes. */
export interface ExchangeListener {
  /** The head of the answer has come; its body waits until somebody reads it. */
  onAnswer(response: http.IncomingMessage, exchange: OpenExchange): void;
  /**
   * There is no answer, or no more of it: a ConnectionError, or the reason of the signal. Of more than one the first counts, and none
   * after the end of a complete answer.
   */
  onFail(reason: unknown): void;
}

/** What an event of Node's belongs to. */
const EXCHANGE = Symbol('exchange');
declare module 'node:http' {
  interface ClientRequest {
    [EXCHANGE]?: Exchange | undefined;
  }
  interface IncomingMessage {
    [EXCHANGE]?: Exchange | undefined;
  }
}

/** In the place of the head of any request that was sent. */
const SENT = 'sent';

/** A kept socket died before the answer began: the request may be sent again on a new one. */
class StaleSocketError extends ConnectionError {}

/** One request and its answer. Its public methods beside those of `OpenExchange` are for the listeners below. */
export class Exchange implements OpenExchange {
  #request: http.ClientRequest;
  #answer: http.IncomingMessage | undefined;
  /** What to send again on a new connection, once, until there is an answer: its body, a whole history, need not be held while that comes. */
  #again: Call | undefined;
  #connecting: NodeJS.Timeout | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #silence: Silence;
  #isOver = false;
  #hasFailed = false;
  readonly #abort = (): void => {
    this.#stop(this.#signal?.reason);
  };

  /** Sends the request. @throws the reason of a signal that is aborted already */
  constructor(
    call: Call,
    agent: http.Agent,
    private readonly times: ConnectionTimes,
    private readonly listener: ExchangeListener,
  ) {
    call.signal?.throwIfAborted();
    this.#again = call;
    this.#signal = call.signal;
    this.#request = this.#send(call, agent);
    this.#signal?.addEventListener('abort', this.#abort, { once: true });
    this.#silence = new Silence(times.idleMs, this);
  }

  heard(): void {
    this.#silence.heard();
  }

  cancel(): void {
    this.#hasFailed = true;
    if (!this.#isOver) this.#request.destroy();
  }

  /** Nobody reads what has come: the silence is ours. */
  isExcused(): boolean {
    return this.#answer?.isPaused() === true;
  }

  fellSilent(): void {
    this.#stop(new ConnectionError('idle', undefined));
  }

  connecting(socket: Socket): void {
    this.#connecting = setTimeout(() => {
      this.#stop(new ConnectionError('connect_timeout', undefined));
    }, this.times.connectMs);
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => {
      clearTimeout(this.#connecting);
    });
  }

  answered(response: http.IncomingMessage): void {
    this.#answer = response;
    this.#again = undefined;
    this.heard();
    response[EXCHANGE] = this;
    response.on('error', onAnswerError).on('close', onAnswerClose);
    this.listener.onAnswer(response, this);
  }

  failed(error: Error): void {
    const reason = asConnectionError(error, this.#request, this.#answer !== undefined);
    const again = this.#again;
    if (this.#hasFailed || again === undefined || !(reason instanceof StaleSocketError)) this.#fail(reason);
    else {
      this.#again = undefined;
      this.#request[EXCHANGE] = undefined;
      this.#request = this.#send(again, false);
      this.heard();
    }
  }

  /** Once there is an answer its own end counts: the request's may come while bytes of it still wait here. */
  requestClosed(): void {
    if (this.#answer === undefined) this.#settle();
  }

  answerClosed(): void {
    this.#settle();
  }

  #send(call: Call, agent: http.Agent | false): http.ClientRequest {
    const { options } = call.target;
    const { method, body } = call;
    const client = options.protocol === 'https:' ? https : http;
    // The agent's time is for connections that are kept. On one in use it would be set anew by each piece that comes or goes.
    const request = client.request({ ...options, method, headers: headOf(call), agent, timeout: 0 });
    request[EXCHANGE] = this;
    request.on('socket', onSocket).on('response', onResponse);
    request.on('error', onRequestError).on('close', onRequestClose);
    request.end(body);
    // Node keeps the text of the head, unread, in the thirty pieces that it was put together of.
    if (request._headerSent === true) request._header = SENT;
    return request;
  }

  #settle(): void {
    this.#isOver = true;
    this.#silence.stop();
    clearTimeout(this.#connecting);
    this.#signal?.removeEventListener('abort', this.#abort);
    // Complete: whoever reads it has its end already.
    if (this.#answer?.complete !== true) this.#fail(new ConnectionError('cut', undefined));
  }

  #stop(reason: unknown): void {
    this.#fail(reason);
    this.#request.destroy();
  }

  #fail(reason: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.listener.onFail(reason);
  }
}

function onSocket(this: http.ClientRequest, socket: Socket): void {
  if (socket.connecting) this[EXCHANGE]?.connecting(socket);
}

function onResponse(this: http.ClientRequest, response: http.IncomingMessage): void {
  this[EXCHANGE]?.answered(response);
}

function onRequestError(this: http.ClientRequest, error: Error): void {
  this[EXCHANGE]?.failed(error);
}

function onRequestClose(this: http.ClientRequest): void {
  this[EXCHANGE]?.requestClosed();
}

function onAnswerError(this: http.IncomingMessage, error: Error): void {
  this[EXCHANGE]?.failed(error);
}

function onAnswerClose(this: http.IncomingMessage): void {
  this[EXCHANGE]?.answerClosed();
}

function asConnectionError(error: Error, request: http.ClientRequest, answering: boolean): ConnectionError {
  const code = codeOf(error);
  const lost = code === 'ECONNRESET' || code === 'EPIPE';
  if (lost && !answering && request.reusedSocket) return new StaleSocketError('cut', code, { cause: error });
  const fault: ConnectionFault = answering || lost || code?.startsWith('HPE_') ? 'cut' : 'unreachable';
  return new ConnectionError(fault, code, { cause: error });
}
