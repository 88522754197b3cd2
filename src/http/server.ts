import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import express, { type Request, type RequestHandler, type Response } from 'express';
import type { Log } from '../core/ports/log.js';
import { logAnswer, logUnparsed } from './access-log.js';
import { isAnnouncedTooLarge } from './request/body.js';
import { answerBrokenRequests, MAX_HEADER_BYTES } from './connections/broken-requests.js';
import { limitConnections } from './connections/connection-limit.js';
import { answerErrors } from './response/error-responses.js';
import type { Dialect } from './response/errors.js';
import { appClasses, isAppRequest, isAppResponse } from './response/app-classes.js';
import { Connections, HEADERS_MS } from './connections/connections.js';
import { lingeringSince } from './connections/lingering.js';
import type { RequestObserver } from './observer.js';
import { onClosed } from './connections/pending-responses.js';
import { begin } from './request/request-id.js';
import { exchangeOf } from './request/exchange.js';
import { originRule } from './guards/origins.js';
import type { RateLimit } from './guards/rate-limit.js';
import { createScreening, MAX_HEADERS } from './guards/screening.js';
import { guard } from './guards/browser-headers.js';
import type { HttpSettings } from './settings.js';
import type { Streams } from './sse/streams.js';

/** A server that is not listening yet. */
export interface HttpServer {
  readonly server: Server;
  /**
   * Makes every further response close its connection. The server still accepts requests, and open streams continue.
   */
  drain(): void;
  /**
   * Ends open streams, waits up to `graceMs` milliseconds for open requests, then stops listening and closes all
   * connections.
   */
  close(graceMs: number): Promise<void>;
}

/**
 * Idle time of connections, in milliseconds. Longer than that of common load balancers, so that they close connections
 * first.
 */
const KEEP_ALIVE_MS = 75_000;

/** The longest wait in milliseconds for the end of responses whose connections were closed. */
const CUT_MS = 1_000;

/**
 * Creates a server that gives each request an id, a log line, the security headers, and an error response if it fails.
 * @param options `router`: handles the requests; `dialect`: the error format until a route has set its own; `streams`:
 * the streams that `close` ends; `rateLimit`: that of the router, for requests that never reach it
 */
export function createHttpServer(options: {
  readonly router: RequestHandler;
  readonly streams: Streams;
  readonly dialect: Dialect;
  readonly rateLimit?: Pick<RateLimit, 'countUnparsed'>;
  readonly log: Log;
  readonly observer?: RequestObserver | undefined;
  readonly http: HttpSettings;
}): HttpServer {
  const { router, streams, dialect, rateLimit, log, observer, http } = options;
  // Used only for Express's request and response methods and settings; the router is our own.
  const app = express();
  app
    .disable('x-powered-by')
    .disable('etag')
    // Each input parses the query itself.
    .set('query parser', false)
    .set('trust proxy', http.trustProxy);
  const answerError = answerErrors(log);
  const guarding = guard(http);
  const screen = createScreening({ isLocal: http.isLocal, isAllowed: originRule(http.corsOrigins) });

  const server = createServer(
    {
      ...appClasses(app),
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_MS,
      requestTimeout: 120_000,
      keepAliveTimeout: 0,
      // The route refuses it, in its dialect.
      requireHostHeader: false,
    },
    handle,
  );
  server.maxHeadersCount = MAX_HEADERS;
  server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => {
    // Does not send `100 Continue` for a body that is too large for every route (RFC 9110 §10.1.1). Closes the
    // connection after the response, because the client may send the body anyway.
    if (isAnnouncedTooLarge(req)) res.setHeader('Connection', 'close');
    else res.writeContinue();
    handle(req, res);
  });
  // Ignores other expectations (RFC 9110 §10.1.1). By default, Node would refuse them without a body in the route's
  // dialect.
  server.on('checkExpectation', handle);
  // Routes with tags handle conditional requests themselves. Express would treat `If-None-Match: *` as a match of any
  // response.
  Object.defineProperty(app.request, 'fresh', { value: false });
  const connections = new Connections(server, {
    idleMs: KEEP_ALIVE_MS,
    isOpenStream: (res) => streams.isOpen(res),
  });
  answerBrokenRequests(server, connections, {
    headers: guarding.common,
    dialect,
    countUnparsed: rateLimit?.countUnparsed,
    answered: (refused) => {
      logUnparsed({ surface: dialect.name, ...refused }, log, observer);
    },
  });
  limitConnections(server, { max: http.maxConnections, log });
  let open = 0;
  let draining = false;
  let onIdle: () => void = () => undefined;

  function handle(req: IncomingMessage, res: ServerResponse): void {
    if (!isAppRequest(req) || !isAppResponse(res))
      throw new TypeError('the request or response was not created by this server');
    // No request may be processed after a response that closes the connection (RFC 9112 §9.6).
    if (lingeringSince(connections.responseOf(req.socket)) !== undefined) return;
    open++;
    connections.begin(res);
    begin(req, res, dialect);
    onClosed(res, () => {
      endRequest(req, res);
    });
    // HTTP/1.0 has no transfer codings: what follows such a request may be part of it (RFC 9112 §6.1).
    const isFramingDoubtful = req.httpVersion === '1.0' && req.headers['transfer-encoding'] !== undefined;
    if (draining || isFramingDoubtful) res.setHeader('Connection', 'close');
    if (observer === undefined) enter(req, res);
    else {
      observer.around(req, () => {
        enter(req, res);
      });
    }
  }

  /** Never throws: whatever a client sends gets a response, and ends no other request of this process. */
  function enter(req: Request, res: Response): void {
    const done = (error: unknown = new Error('no handler responded')): void => {
      answerError(error, req, res);
    };
    try {
      guarding.set(req, res);
      exchangeOf(req).refusal = screen(req);
      req.originalUrl = req.url;
      router(req, res, done);
    } catch (error) {
      done(error);
    }
  }

  function endRequest(req: Request, res: Response): void {
    open--;
    connections.end(req);
    logAnswer(req, res, log, observer);
    if (!draining) return;
    // A response whose headers were sent before the drain could not announce `Connection: close`.
    req.socket.end();
    if (open === 0) onIdle();
  }

  return {
    server,
    drain() {
      draining = true;
    },
    async close(graceMs) {
      draining = true;
      streams.endAll();
      // Waits for open responses first: `closeAllConnections` would cut off responses that are written but not sent
      // yet. Requests that arrive in the meantime get a response that closes their connection.
      if (open > 0) await idleWithin(graceMs);
      const closed = new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      });
      server.closeAllConnections();
      await closed;
      // Responses that were cut off end, and are logged, a moment after the server.
      if (open > 0) await idleWithin(CUT_MS);
    },
  };

  async function idleWithin(milliseconds: number): Promise<void> {
    await new Promise<void>((resolve) => {
      onIdle = resolve;
      setTimeout(resolve, milliseconds).unref();
    });
  }
}
