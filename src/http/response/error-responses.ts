import type { Request, Response } from 'express';
import type { Log } from '../../core/ports/log.js';
import { StoreUnavailableError } from '../../core/ports/store.js';
import { exchangeOf } from '../request/exchange.js';
import { toFailure } from './errors.js';

/** Answers a failed request, unless its answer is already on its way. */
export type AnswerError = (error: unknown, req: Request, res: Response) => void;

/** Answers errors in the dialect of the request's route. A stream that fails after its start is cut. */
export function answerErrors(log: Log): AnswerError {
  return (error, req, res) => {
    const { requestId, loggedId, dialect, route } = exchangeOf(req);
    const failure = toFailure(error);
    if (failure.code === 'internal') log.error({ err: error, request_id: loggedId, route }, 'request failed');
    else if (error instanceof StoreUnavailableError)
      log.warn({ err: error, request_id: loggedId, route }, 'unavailable');
    if (res.headersSent) {
      if (!res.writableEnded) res.destroy();
      return;
    }
    if (failure.retryAfter !== undefined) res.setHeader('Retry-After', String(failure.retryAfter));
    res.status(failure.status).json(dialect.error(failure, requestId));
  };
}
