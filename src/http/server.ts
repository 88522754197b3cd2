import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import express, { type NextFunction, type Request, type Response, type Router } from 'express';
import type { Log } from '../core/ports/log.js';
import { logAnswer } from './access-log.js';
import { isAnnouncedTooLarge } from './body.js';
import { answerBrokenRequests, beginAnswer } from './broken-requests.js';
import { limitConnections } from './connection-limit.js';
import { answerErrors, type Dialect } from './errors.js';
import { fastPrototypes, isAppRequest, isAppResponse } from './fast-prototypes.js';
import { HEADERS_MS, IdleConnections } from './idle-connections.js';
import type { RequestObserver } from './observer.js';
import { closeWithConnection } from './queued-answers.js';
import { begin } from './request-id.js';
import { exchangeOf } from './exchange.js';
import { originRule } from './origins.js';
import { createScreening } from './screening.js';
import { guard } from './security.js';
import type { HttpSettings } from './settings.js';
import type { Shortcuts } from './shortcuts.js';
import type { Streams } from './sse.js';

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
 * Puts a router behind everything that each request passes: its id, its log line, the headers that guard, and errors.
 * @param options `dialect`: the shape of errors where no route has said another; `streams`: what `close` ends
 */
export function createHttpServer(options: {
  readonly router: Router;
  /** Absent: every request goes through the router. */
  readonly shortcuts?: Shortcuts;
  readonly streams: Streams;
  readonly dialect: Dialect;
  readonly log: Log;
  /** Absent: nobody is told. */
  readonly observer?: RequestObserver | undefined;
  readonly http: HttpSettings;
}): HttpServer {
  const { router, shortcuts, streams, dialect, log, observer, http } = options;
  const app = express();
  app
    .disable('x-powered-by')
    .disable('etag')
    // Each input reads the parameters that it knows.
    .set('query parser', false)
    .set('trust proxy', http.trustProxy);
  const answerError = answerErrors(log);
  app.use(router, (error: unknown, req: Request, res: Response, _next: NextFunction) => {
    answerError(error, req, res);
  });
  const guarding = guard(http);
  const screen = createScreening({ isLocal: http.isLocal, isAllowed: originRule(http.corsOrigins) });

  const server = createServer(
    {
      ...fastPrototypes(app),
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
  answerBrokenRequests(server, { guardLines: guarding.unread, dialect });
  limitConnections(server, { max: http.maxConnections, log });
  const idle = new IdleConnections(server, KEEP_ALIVE_MS);
  let open = 0;
  let draining = false;
  let onIdle: () => void = () => undefined;

  /** What every request passes, in one function: as handlers they were layers of Express, with closures for each. */
  function handle(req: IncomingMessage, res: ServerResponse): void {
    if (!isAppRequest(req) || !isAppResponse(res)) throw new TypeError('not of the classes of this server');
    open++;
    closeWithConnection(req, res, beginAnswer);
    idle.begin(req, res);
    begin(req, res, dialect);
    res.on('close', onClose);
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
    const refusal = screen(req);
    exchangeOf(req).refusal = refusal;
    if (refusal !== undefined || shortcuts?.take(req, res, goOn) !== true) app(req, res);
  }

  /** Where no shortcut has led to an answer. */
  function goOn(req: Request, res: Response, error?: unknown): void {
    if (error === undefined || error === null) app(req, res);
    else answerError(error, req, res);
  }

  function onClose(this: Response): void {
    open--;
    idle.end(this.req);
    logAnswer(this.req, this, log, observer);
    if (!draining) return;
    // An answer that had begun before the drain could not announce this.
    this.req.socket.end();
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
