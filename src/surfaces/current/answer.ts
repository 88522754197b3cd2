import type { Request, Response } from 'express';
import type { Session } from '../../core/model/session.js';
import type { Snapshot } from '../../core/model/snapshot.js';
import { matchesTag } from '../../http/etag.js';
import { addLines, caching, hasLinesOnly, nameLines, setCaching } from '../../http/guard-headers.js';
import { JSON_TYPE } from '../../http/json.js';
import { inOnePiece, SHORT_BYTES } from '../../http/one-piece.js';
import { snapshotJson, type SnapshotJson } from './output.js';
import { headOf } from './state-head.js';

nameLines('ETag', 'Vary', 'X-Event-Cursor', 'X-Total-Messages');

/** A client may keep a state, and asks each time whether it is still the one. */
const ASK_EACH_TIME = caching('private, no-cache');

/**
 * Sends a snapshot with its `X-Event-Cursor`, and tells the core whether the faults in it went out.
 * @param tail only so many of the last messages
 */
export function sendSnapshot(req: Request, res: Response, snapshot: Snapshot, tail?: number): void {
  send(req, res, snapshot, encode(snapshot, tail));
}

/** @throws what cannot be encoded: then the faults in it are for another answer */
function encode(snapshot: Snapshot, tail: number | undefined): SnapshotJson {
  try {
    return snapshotJson(snapshot, tail);
  } catch (error) {
    snapshot.faults.release();
    throw error;
  }
}

function send(req: Request, res: Response, { session, faults }: Snapshot, answer: SnapshotJson): void {
  const isSent = req.method !== 'HEAD' && !res.closed;
  if (!isSent) faults.release();
  else if (faults.texts.length > 0) {
    res.once('close', () => {
      if (res.writableFinished) faults.confirm();
      else faults.release();
    });
  }
  addLines(res, `${JSON_TYPE}${cursorLine(session)}X-Total-Messages: ${String(answer.total)}\r\n`);
  endWith(res, answer.body);
}

/**
 * Ends an answer with a body in pieces; to HEAD, Node leaves them out. A long one, which may have hundreds of KiB, is
 * not copied.
 */
function endWith(res: Response, pieces: readonly Buffer[]): void {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (length <= SHORT_BYTES && res.req.method !== 'HEAD') {
    res.end(Buffer.concat(pieces, length));
    return;
  }
  res.writeHead(res.statusCode, { 'Content-Length': length });
  res.cork();
  for (const piece of joinShort(pieces)) res.write(piece);
  res.end();
  res.uncork();
}

/** Short neighbours as one: a write takes longer than copying them. */
function joinShort(pieces: readonly Buffer[]): Buffer[] {
  const joined: Buffer[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if (last !== undefined && last.length + piece.length <= SHORT_BYTES)
      joined[joined.length - 1] = Buffer.concat([last, piece]);
    else joined.push(piece);
  }
  return joined;
}

/** The same for a poll: with an `ETag`, and 304 without a body when the client has just that. */
export function sendState(req: Request, res: Response, snapshot: Snapshot, tail: number | undefined): void {
  const { session, faults } = snapshot;
  const head = headOf(snapshot, tail);
  const hasChanged = faults.texts.length > 0 || !matchesTag(req.headers['if-none-match'], head.etag);
  // First: an error answer must not have the tag of a state.
  const answer = hasChanged ? encode(snapshot, tail) : undefined;
  const tagLine = `ETag: ${head.etag}\r\n`;
  setCaching(res, ASK_EACH_TIME);
  addLines(res, hasChanged ? tagLine : (head.unchanged ??= inOnePiece(tagLine + cursorLine(session))));
  if (hasLinesOnly(res)) addLines(res, 'Vary: X-Session-Id\r\n');
  else res.vary('X-Session-Id');
  if (answer !== undefined) {
    send(req, res, snapshot, answer);
    return;
  }
  faults.release();
  res.writeHead(304).end();
}

function cursorLine({ lastEventId }: Session): string {
  return `X-Event-Cursor: ${String(lastEventId)}\r\n`;
}
