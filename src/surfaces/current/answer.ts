import type { Request, Response } from 'express';
import type { Snapshot } from '../../core/snapshot.js';
import { matchesTag } from '../../http/etag.js';
import { sessionMark } from '../session.js';
import { snapshotJson } from './output.js';

/**
 * Sends a snapshot with its `X-Event-Cursor`, and tells the core whether the faults in it went out.
 * @param tail only so many of the last messages
 */
export function sendSnapshot(req: Request, res: Response, snapshot: Snapshot, tail?: number): void {
  const { session, faults } = snapshot;
  let answer;
  try {
    answer = snapshotJson(snapshot, tail);
  } catch (error) {
    faults.release();
    throw error;
  }
  const isSent = req.method !== 'HEAD' && !res.closed;
  if (!isSent) faults.release();
  else if (faults.texts.length > 0) {
    res.once('close', () => {
      if (res.writableFinished) faults.confirm();
      else faults.release();
    });
  }
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  const length = answer.body.reduce((sum, piece) => sum + piece.length, 0);
  res.setHeader('Content-Length', length);
  res.setHeader('X-Event-Cursor', String(session.lastEventId));
  res.setHeader('X-Total-Messages', String(answer.total));
  endWith(res, answer.body, length);
}

/** Below this a copy costs less than a write of several pieces. */
const COPIED_BYTES = 16_384;

/** Ends an answer with a body in pieces. A long one, which may have hundreds of KiB, is not copied. */
function endWith(res: Response, pieces: readonly Buffer[], length: number): void {
  if (length <= COPIED_BYTES) {
    res.end(Buffer.concat(pieces, length));
    return;
  }
  res.cork();
  for (const piece of pieces) res.write(piece);
  res.end();
  res.uncork();
}

/** The same for a poll: with an `ETag`, and 304 without a body when the client has just that. */
export function sendState(req: Request, res: Response, snapshot: Snapshot, tail: number | undefined): void {
  const { session, faults, tag } = snapshot;
  const part = tail === undefined ? '' : `-${String(tail)}`;
  const etag = `W/"${sessionMark(session.id)}-${tag}${part}"`;
  res.setHeader('ETag', etag);
  res.setHeader('Cache-Control', 'private, no-cache');
  res.vary('X-Session-Id');
  if (faults.texts.length > 0 || !matchesTag(req.headers['if-none-match'], etag)) {
    sendSnapshot(req, res, snapshot, tail);
    return;
  }
  faults.release();
  res.setHeader('X-Event-Cursor', String(session.lastEventId));
  res.status(304).end();
}
