import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import express, { type Request, type RequestHandler, type Response } from 'express';
import type { Log } from '../core/ports/log.js';
import { logAnswer } from './access-log.js';
import { isAnnouncedTooLarge } from './request/body.js';
import { answerBrokenRequests } from './connections/broken-requests.js';
import { limitConnections } from './connections/connection-limit.js';
import { answerErrors } from './response/error-responses.js';
import type { Dialect } from './response/errors.js';
import { appClasses, isAppRequest, isAppResponse } from './response/app-classes.js';
import { Connections, HEADERS_MS } from './connections/connections.js';
import type { RequestObserver } from './observer.js';
import { onClosed } from './connections/pending-responses.js';
import { begin } from './request/request-id.js';
import { exchangeOf } from './request/exchange.js';
import { originRule } from './guards/origins.js';
import { createScreening } from './guards/screening.js';
import { guard } from './guards/browser-headers.js';
import type { HttpSettings } from './settings.js';
import type { Streams } from './sse/streams.js';

/** A server that does not listen yet. */
export interface HttpServer {
  readonly server: Server;
  /** From now on every answer closes its connection. Requests are still taken, and open streams go on. */
  drain(): void;
  /** Ends open streams, waits for open requests, at most `graceMs`, then stops listening and cuts what is left. */
  close(graceMs: number): Promise<void>;
}

/** Request line and headers together, in bytes: messages travel in the URL. */
const MAX_HEADER_BYTES = 1_048_576;

/** Longer than the idle time of the usual load balancers, so that they, not we, close first. */
const KEEP_ALIVE_MS = 75_000;

/**
 * Creates a server that gives each request an id, a log line, the security headers, and a response to each error.
 * @param options `router`: handles the requests; `dialect`: the shape of errors until a route has set its own; `streams`:
 * those that `close` ends
 */
export function createHttpServer(options: {
  readonly router: RequestHandler;
  readonly streams: Streams;
  readonly dialect: Dialect;
  readonly log: Log;
  /** Absent: nobody is told. */
  readonly observer?: RequestObserver | undefined;
  readonly http: HttpSettings;
}): HttpServer {
  const { router, streams, dialect, log, observer, http } = options;
  // Gives requests and responses Express's methods and settings. Its own router would only be one more in front of ours.
  const app = express();
  app
    .disable('x-powered-by')
    .disable('etag')
    // Each input reads the parameters that it knows.
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
      // Its route refuses it, in its dialect.
      requireHostHeader: false,
    },
    handle,
  );
  server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => {
    // What is too large for every route is not asked for (RFC 9110 §10.1.1); its connection ends with the answer, as it
    // may come all the same.
    if (isAnnouncedTooLarge(req)) res.setHeader('Connection', 'close');
    else res.writeContinue();
    handle(req, res);
  });
  // Nothing has to be expected of a server (RFC 9110 §10.1.1): Node would refuse all but `100-continue`, in no dialect.
  server.on('checkExpectation', handle);
  // Conditional requests are answered where there are tags. Express would take `If-None-Match: *` for a match of
  // anything.
  Object.defineProperty(app.request, 'fresh', { value: false });
  const connections = new Connections(server, KEEP_ALIVE_MS);
  answerBrokenRequests(server, connections, { headers: guarding.common, dialect });
  limitConnections(server, { max: http.maxConnections, log });
  let open = 0;
  let draining = false;
  let onIdle: () => void = () => undefined;

  /** Every request passes this before its route. */
  function handle(req: IncomingMessage, res: ServerResponse): void {
    if (!isAppRequest(req) || !isAppResponse(res)) throw new TypeError('not of the classes of this server');
    open++;
    connections.begin(res);
    begin(req, res, dialect);
    onClosed(res, () => {
      endRequest(req, res);
    });
    if (draining) res.setHeader('Connection', 'close');
    if (observer === undefined) enter(req, res);
    else {
      observer.around(req, () => {
        enter(req, res);
      });
    }
  }

  function enter(req: Request, res: Response): void {
    guarding.set(req, res);
    exchangeOf(req).refusal = screen(req);
    req.originalUrl = req.url;
    router(req, res, (error: unknown = new Error('no handler responded')) => {
      answerError(error, req, res);
    });
  }

  function endRequest(req: Request, res: Response): void {
    open--;
    connections.end(req);
    logAnswer(req, res, log, observer);
    if (!draining) return;
    // A response that had begun before the drain could not announce this.
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
      // First the answers: `close` cuts those that are written but not sent yet. What comes meanwhile is answered, and
      // closes its connection.
      if (open > 0) await idleWithin(graceMs);
      const closed = new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      });
      server.closeAllConnections();
      await closed;
    },
  };

  async function idleWithin(milliseconds: number): Promise<void> {
    await new Promise<void>((resolve) => {
      onIdle = resolve;
      setTimeout(resolve, milliseconds).unref();
    });
  }
}
