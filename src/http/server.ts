import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import express, { type Router } from 'express';
import type { Log } from '../core/ports.js';
import { accessLog } from './access-log.js';
import { answerBrokenRequests } from './broken-requests.js';
import { answerErrors, type Dialect } from './errors.js';
import { fastPrototypes } from './fast-prototypes.js';
import type { RequestObserver } from './observer.js';
import { begin } from './request-id.js';
import { guard } from './security.js';
import type { HttpSettings } from './settings.js';
import type { Streams } from './sse.js';

/** A server that does not listen yet. */
export interface HttpServer {
  readonly server: Server;
  /** From now on every answer closes its connection. Requests are still taken, and open streams go on. */
  drain(): void;
  /** Stops listening, ends open streams, and waits for open requests, at most `graceMs`; then cuts what is left. */
  close(graceMs: number): Promise<void>;
}

/** Request line and headers together, in bytes: messages travel in the URL. */
const MAX_HEADER_BYTES = 1_048_576;

/**
 * Puts a router behind everything that each request passes: its id, its log line, the headers that guard, and errors.
 * @param options `dialect`: the shape of errors where no route has said another; `streams`: what `close` ends
 */
export function createHttpServer(options: {
  readonly router: Router;
  readonly streams: Streams;
  readonly dialect: Dialect;
  readonly log: Log;
  /** Absent: nobody is told. */
  readonly observer?: RequestObserver | undefined;
  readonly http: HttpSettings;
}): HttpServer {
  const { router, streams, dialect, log, observer, http } = options;
  const app = express();
  app
    .disable('x-powered-by')
    .disable('etag')
    .set('query parser', 'simple')
    .set('trust proxy', http.trustProxy);
  app.use(begin(dialect), accessLog(log, observer), guard(http), router, answerErrors(log));

  const server = createServer(
    {
      ...fastPrototypes(app),
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: 30_000,
      requestTimeout: 120_000,
      // Longer than the idle time of the usual load balancers, so that they, not we, close first.
      keepAliveTimeout: 75_000,
    },
    handle,
  );
  // Conditional requests are answered where there are tags. Express would take `If-None-Match: *` for a match of anything.
  Object.defineProperty(app.request, 'fresh', { value: false });
  const answering = new WeakMap<Duplex, ServerResponse>();
  answerBrokenRequests(server, { answering, anyOrigin: http.corsOrigins === '*', dialect });
  const open = new Set<ServerResponse>();
  let draining = false;
  let onIdle: () => void = () => undefined;

  function handle(req: IncomingMessage, res: ServerResponse): void {
    answering.set(req.socket, res);
    open.add(res);
    res.once('close', () => {
      open.delete(res);
      if (!draining) return;
      // An answer that had begun before the drain could not announce this.
      req.socket.end();
      if (open.size === 0) onIdle();
    });
    if (draining) res.setHeader('Connection', 'close');
    if (observer === undefined) app(req, res);
    else {
      observer.around(req, () => {
        app(req, res);
      });
    }
  }

  return {
    server,
    drain() {
      draining = true;
    },
    async close(graceMs) {
      draining = true;
      const closed = new Promise<void>((resolve) => {
        // Not the HTTP server's own `close`, which cuts answers that are written but not sent yet.
        NetServer.prototype.close.call(server, () => {
          resolve();
        });
      });
      streams.endAll();
      if (open.size > 0) await idleWithin(graceMs);
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
