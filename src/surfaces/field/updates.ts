import { randomUUID } from 'node:crypto';
import type { Request, Response } from 'express';
import type { Feed } from '../../core/model/feed.js';
import type { SessionRef } from '../../core/model/session.js';
import type { Snapshot } from '../../core/model/snapshot.js';
import type { Update } from '../../core/model/update.js';
import { cursorOf } from '../shared/cursor.js';
import { requireEventStream } from '../shared/stream-request.js';
import { unlessDeleted, type FieldParts } from './endpoint.js';
import type { Idler } from './idle-streams.js';
import { frame } from './output.js';
import type { NamedSession } from './session-id.js';
import { SilentFeed } from './silent-feed.js';

/** Streams the updates of a session. A stream of no session, or of a deleted one, is silent. */
export async function streamUpdates(
  { core, streams, idleStreams, addressOf }: FieldParts,
  named: NamedSession,
  {
    asked,
    req,
    res,
  }: {
    readonly asked: {
      readonly include: string | undefined;
      readonly lastEventId: number | undefined;
      readonly since: number | undefined;
    };
    readonly req: Request;
    readonly res: Response;
  },
): Promise<void> {
  requireEventStream(req);
  const { session } = named;
  // All browsers share an id such as `default-session`, so they must not share its limit of streams.
  streams.takePlace(req, res, session?.id ?? randomUUID());
  const address = addressOf(req);
  const turns = asked.include !== undefined;
  const feed: Feed<Update> =
    session === undefined
      ? new SilentFeed()
      : await unlessDeleted<Feed<Update>>(
          core.updates(session, { after: cursorOf(asked), turns }),
          () => new SilentFeed(),
        );
  const isSilent = feed instanceof SilentFeed;
  const { used, remove } = idleStreams.add({
    address,
    isSilent,
    state: () => stateOf(session),
    close: () => {
      feed.close();
    },
  });
  try {
    const usedFrame = (update: Update) => {
      used();
      return frame(named, update);
    };
    await streams.stream(req, res, feed, usedFrame, { opening: turns });
  } finally {
    remove();
  }

  async function stateOf(ref: SessionRef | undefined): ReturnType<Idler['state']> {
    if (ref === undefined) return 'idle';
    const snapshot = await unlessDeleted(readEnd(ref), () => undefined);
    if (snapshot === undefined) return 'idle';
    if (isSilent) return 'returned';
    return snapshot.status === 'processing' ? 'busy' : 'idle';
  }

  async function readEnd(ref: SessionRef): Promise<Snapshot | undefined> {
    return core.snapshot(ref, { leavesFaults: true, tail: 0 });
  }
}
