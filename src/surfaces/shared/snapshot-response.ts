import type { Request, Response } from 'express';
import type { Session } from '../../core/model/session.js';
import type { Snapshot } from '../../core/model/snapshot.js';
import { matchesTag } from '../../http/response/etag.js';
import { isClosed, onClosed, wasSent } from '../../http/connections/pending-responses.js';
import { addHeaders, replaceHeader, type HeaderList } from '../../http/response/header-list.js';
import { JSON_TYPE } from '../../http/response/json.js';
import { endWithPieces, lengthOf } from '../../http/response/pieces.js';
import { countBody } from '../../http/response/waiting-bodies.js';
import type { EncodeMessages } from './messages.js';
import { sessionMark } from './session.js';
import { snapshotJson, type SnapshotJson } from './snapshot-json.js';

/** A client may cache a state, but must revalidate it on each request. */
const ASK_EACH_TIME = 'private, no-cache';

/** Sends the snapshots of a surface. */
export class SnapshotSender {
  /**
   * @param format `encodeMessages`: how the surface shows messages; `tagMark`: distinguishes its entity tags from those
   * of surfaces that show other bytes for the same state
   */
  constructor(
    private readonly format: { readonly encodeMessages: EncodeMessages; readonly tagMark: string },
  ) {}

  /**
   * Sends a snapshot with `X-Event-Cursor`, and confirms or releases its faults depending on whether they were sent.
   * @param tail number of last messages to include; absent: all
   */
  send(req: Request, res: Response, snapshot: Snapshot, tail?: number): void {
    send(req, res, snapshot, this.#encode(res, snapshot, tail));
  }

  /** Sends a snapshot with an `ETag` in response to a poll, or 304 when the client has the current version. */
  sendState(req: Request, res: Response, snapshot: Snapshot, tail: number | undefined): void {
    const { session, faults } = snapshot;
    const etag = this.#tagOf(snapshot, tail);
    const hasChanged = faults.events.length > 0 || !matchesTag(req.headers['if-none-match'], etag);
    // Encodes first, because an error response must not have the tag of a state.
    const answer = hasChanged ? this.#encode(res, snapshot, tail) : undefined;
    replaceHeader(res, 'Cache-Control', ASK_EACH_TIME);
    addHeaders(res, ['ETag', etag, 'Vary', 'X-Session-Id']);
    if (answer !== undefined) {
      send(req, res, snapshot, answer);
      return;
    }
    faults.release();
    addHeaders(res, cursorHeader(session));
    res.writeHead(304).end();
  }

  /** Encodes a snapshot. If that fails or is refused, releases its faults for another response. */
  #encode(res: Response, snapshot: Snapshot, tail: number | undefined): SnapshotJson {
    try {
      const answer = snapshotJson(snapshot, this.format.encodeMessages, tail);
      countBody(res, lengthOf(answer.body));
      return answer;
    } catch (error) {
      snapshot.faults.release();
      throw error;
    }
  }

  /** Returns the entity tag of a snapshot, or of its last `tail` messages. */
  #tagOf({ session, tag }: Snapshot, tail: number | undefined): string {
    const part = tail === undefined ? '' : `-${String(tail)}`;
    return `W/"${sessionMark(session.id)}-${this.format.tagMark}${tag}${part}"`;
  }
}

function send(req: Request, res: Response, { session, faults }: Snapshot, answer: SnapshotJson): void {
  const isSent = req.method !== 'HEAD' && !isClosed(res);
  if (!isSent) faults.release();
  else if (faults.events.length > 0) {
    onClosed(res, () => {
      if (wasSent(res)) faults.confirm();
      else faults.release();
    });
  }
  addHeaders(res, JSON_TYPE);
  addHeaders(res, [...cursorHeader(session), 'X-Total-Messages', String(answer.total)]);
  endWithPieces(res, answer.body);
}

function cursorHeader({ lastEventId }: Session): HeaderList {
  return ['X-Event-Cursor', String(lastEventId)];
}
