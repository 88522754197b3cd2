import type { Request, Response } from 'express';
import type { Feed } from '../../core/model/feed.js';
import type { TurnUpdate } from '../../core/model/update.js';
import type { Streams } from '../../http/sse/streams.js';
import { dataFrame } from '../shared/events.js';
import { BROKEN_OFF, chatEvent } from './output.js';

/** Streams a turn as the six events of the legacy surface. Exactly one `complete` or `error` comes last. */
export function streamTurn(
  streams: Streams,
  req: Request,
  res: Response,
  feed: Feed<TurnUpdate>,
): Promise<void> {
  let isOver = false;
  const frame = (update: TurnUpdate) => {
    if (isOver) return undefined;
    isOver = update.type === 'turn_ended' || update.type === 'cut';
    const event = chatEvent(update);
    return event === undefined ? undefined : dataFrame(event);
  };
  const lastWords = () => (isOver ? undefined : dataFrame(BROKEN_OFF));
  return streams.stream(req, res, feed, frame, { lastWords });
}
