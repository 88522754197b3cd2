import http from 'node:http';
import https from 'node:https';
import { codeOf, ConnectionError, type ConnectionFault } from './connection-error.js';
import { sharedReads } from './shared-reads.js';
import { watchSilence } from './silence.js';

/** Times in milliseconds. */
export interface ConnectionTimes {
  /** How long TCP and TLS may take to be established. */
  readonly connectMs: number;
  /** How long a request may go without a byte from the provider, before its answer or in it. */
  readonly idleMs: number;
}

/** Reasoning models may be silent for two minutes before their first word, hence three. */
export const DEFAULT_TIMES: ConnectionTimes = { connectMs: 10_000, idleMs: 180_000 };

const IDLE_SOCKET_MS = 60_000;

/** A request to a provider. */
export interface Call {
  /** Where to, as `urlToHttpOptions` says it. */
  readonly target: http.RequestOptions;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Is told how an exchange goes. */
export interface ExchangeListener {
  /** The head of the answer has come; its body waits until somebody reads it. @param heard to be called for each piece of it */
  onAnswer(response: http.IncomingMessage, heard: () => void): void;
  /**
   * There is no answer, or no more of it: a ConnectionError, or the reason of the signal. Of more than one the first counts, and none
   * after the end of a complete answer.
   */
  onFail(reason: unknown): void;
}

/** Destroys the connection of an exchange at once. After the end of a complete answer it does nothing. */
export type Cancel = () => void;

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
  open(call: Call, listener: ExchangeListener): Cancel {
    const agent = call.target.protocol === 'https:' ? this.#agents.https : this.#agents.http;
    let again: Call | undefined = call;
    let cancel = exchange(call, agent, this.times, {
      onAnswer: (response, heard) => {
        // It is not sent again: its body, a whole history, need not be held while the answer comes. It was a fifth of what a stream holds.
        again = undefined;
        listener.onAnswer(response, heard);
      },
      onFail: (reason) => {
        if (reason instanceof StaleSocketError && again !== undefined)
          cancel = exchange(again, false, this.times, listener);
        else listener.onFail(reason);
      },
    });
    return () => {
      cancel();
    };
  }
}

/** A kept socket died before the answer began: the request may be sent again on a new one. */
class StaleSocketError extends ConnectionError {}

function exchange(
  { target, method, headers, body, signal }: Call,
  agent: http.Agent | false,
  times: ConnectionTimes,
  listener: ExchangeListener,
): Cancel {
  signal?.throwIfAborted();
  const client = target.protocol === 'https:' ? https : http;
  // The agent's time is for connections that are kept. On one in use it would be set anew by each piece that comes or goes.
  const request = client.request({ ...target, method, headers, agent, timeout: 0 });
  let answer: http.IncomingMessage | undefined;
  let over = false;
  let failed = false;

  const fail = (reason: unknown): void => {
    if (failed) return;
    failed = true;
    listener.onFail(reason);
  };
  const stop = (reason: unknown): void => {
    fail(reason);
    request.destroy();
  };
  const abort = (): void => {
    stop(signal?.reason);
  };
  signal?.addEventListener('abort', abort, { once: true });
  const silence = watchSilence(
    times.idleMs,
    () => answer?.isPaused() === true,
    () => {
      stop(new ConnectionError('idle', undefined));
    },
  );
  const settle = (): void => {
    over = true;
    silence.stop();
    signal?.removeEventListener('abort', abort);
    // Complete: whoever reads it has its end already.
    if (answer?.complete !== true) fail(new ConnectionError('cut', undefined));
  };
  limitConnecting(request, times.connectMs, () => {
    stop(new ConnectionError('connect_timeout', undefined));
  });
  request.on('error', (error) => {
    fail(asConnectionError(error, request, answer !== undefined));
  });
  // Once there is an answer its own 'close' counts: the request's may come while bytes of it still wait here.
  request.once('close', () => {
    if (answer === undefined) settle();
  });
  request.once('response', (response) => {
    answer = response;
    silence.heard();
    response.on('error', (error) => {
      fail(asConnectionError(error, request, true));
    });
    response.once('close', settle);
    listener.onAnswer(response, silence.heard);
  });
  request.end(body);
  return () => {
    failed = true;
    if (!over) request.destroy();
  };
}

function limitConnecting(request: http.ClientRequest, ms: number, onTimeout: () => void): void {
  request.once('socket', (socket) => {
    if (!socket.connecting) return;
    const timer = setTimeout(onTimeout, ms);
    const clear = (): void => {
      clearTimeout(timer);
    };
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', clear);
    request.once('close', clear);
  });
}

function asConnectionError(error: Error, request: http.ClientRequest, answering: boolean): ConnectionError {
  const code = codeOf(error);
  const lost = code === 'ECONNRESET' || code === 'EPIPE';
  if (lost && !answering && request.reusedSocket) return new StaleSocketError('cut', code, { cause: error });
  const fault: ConnectionFault = answering || lost || code?.startsWith('HPE_') ? 'cut' : 'unreachable';
  return new ConnectionError(fault, code, { cause: error });
}
