import type { Request, Response } from 'express';
import type { Log } from '../../core/ports/log.js';
import { StoreUnavailableError } from '../../core/ports/store.js';
import { exchangeOf } from '../request/exchange.js';
import { toFailure } from './errors.js';

/** Sends the error response of a failed request, unless its response has begun. */
export type AnswerError = (error: unknown, req: Request, res: Response) => void;

/**
 * Creates a handler that sends errors in the dialect of the request's route. Destroys a response that fails after its
 * headers were sent.
 */
export function answerErrors(log: Log): AnswerError {
  return (error, req, res) => {
    const { requestId, loggedId, dialect, route } = exchangeOf(req);
    const failure = toFailure(error, dialect);
    if (failure.code === 'internal') log.error({ err: error, request_id: loggedId, route }, 'request failed');
    else if (error instanceof StoreUnavailableError)
      log.warn({ err: error, request_id: loggedId, route }, 'refused a request');
    if (res.headersSent) {
      if (!res.writableEnded) res.destroy();
      return;
    }
    if (failure.retryAfter !== undefined) res.setHeader('Retry-After', String(failure.retryAfter));
    res.status(failure.status).json(dialect.error(failure, requestId));
  };
}
