import type { RequestHandler } from 'express';
import type { Log } from '../core/ports.js';
import { exchangeOf } from './exchange.js';

/** Logs one line for each request once its answer is over: the route's pattern, never a path, query or body. */
export function accessLog(log: Log): RequestHandler {
  return (req, res, next) => {
    const startedAt = performance.now();
    res.once('close', () => {
      const { requestId, dialect, route, logged } = exchangeOf(req);
      const line = {
        method: req.method,
        route,
        status: res.statusCode,
        ms: Math.round((performance.now() - startedAt) * 10) / 10,
        request_id: requestId,
        surface: dialect.name,
        ...logged,
        ...(res.writableFinished ? {} : { aborted: true }),
      };
      log.info(line, 'request');
    });
    next();
  };
}
