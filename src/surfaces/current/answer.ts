import type { Request, Response } from 'express';
import type { Snapshot } from '../../core/model/snapshot.js';
import { encodeMessages } from '../shared/messages.js';
import { SnapshotSender } from '../shared/snapshot-response.js';

const sender = new SnapshotSender({ encodeMessages, tagMark: '' });

/** @param tail number of last messages to include; absent: all */
export function sendSnapshot(req: Request, res: Response, snapshot: Snapshot, tail?: number): void {
  sender.send(req, res, snapshot, tail);
}

/** Sends a snapshot in response to a poll, or 304 when the client has the current version. */
export function sendState(req: Request, res: Response, snapshot: Snapshot, tail: number | undefined): void {
  sender.sendState(req, res, snapshot, tail);
}
