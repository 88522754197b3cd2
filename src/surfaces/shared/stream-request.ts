import type { Request } from 'express';
import { RefusedError } from '../../core/model/refusal.js';
import { accepts } from '../../http/request/accept.js';

/** @throws RefusedError `invalid` when the `Accept` header excludes event streams */
export function requireEventStream(req: Request): void {
  if (accepts(req.headers.accept, 'text/event-stream')) return;
  const message = 'this is an event stream: Accept must allow text/event-stream';
  throw new RefusedError('invalid', message, [{ path: 'Accept', message }]);
}
