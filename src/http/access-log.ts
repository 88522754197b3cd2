import type { RequestHandler } from 'express';
import type { Log } from '../core/ports.js';
import { exchangeOf } from './exchange.js';
import { placeOf, type RequestObserver } from './observer.js';

/**
 * Logs one line for each request once its answer is over: the route's pattern, never a path, query or body.
 * @param observer is told the same
 */
export function accessLog(log: Log, observer?: RequestObserver): RequestHandler {
  return (req, res, next) => {
    const startedAt = performance.now();
    res.once('close', () => {
      const exchange = exchangeOf(req);
      const { requestId, dialect, route, logged } = exchange;
      const milliseconds = performance.now() - startedAt;
      const line = {
        method: req.method,
        route,
        status: res.statusCode,
        ms: Math.round(milliseconds * 10) / 10,
        request_id: requestId,
        surface: dialect.name,
        ...logged,
        ...(res.writableFinished ? {} : { aborted: true }),
      };
      log.info(line, 'request');
      const { method } = req;
      observer?.answered(req, { ...placeOf(exchange), method, status: res.statusCode, milliseconds });
    });
    next();
  };
}
