import type { RequestHandler } from 'express';
import type { SessionRef } from '../../core/model/session.js';
import { RefusedError } from '../../core/model/refusal.js';
import { handle } from '../../http/validation/input.js';
import { addHeaders } from '../../http/response/header-list.js';
import { JSON_TYPE } from '../../http/response/json.js';
import { endWithPieces, lengthOf } from '../../http/response/pieces.js';
import { countBody } from '../../http/response/waiting-bodies.js';
import type { Method, Route } from '../../http/routing/route.js';
import { cursorOf } from '../shared/cursor.js';
import { updateFrame } from '../shared/events.js';
import type { SurfaceContext } from '../shared/context.js';
import { sentByBoth, sentByHeader, sentByQuery, touchByHeader } from '../shared/session.js';
import { walletProofOf } from '../shared/wallet-proof.js';
import { streamTurn } from './chat-stream.js';
import * as input from './input.js';
import * as output from './output.js';

/** All routes of the legacy surface, in the order of the table in `docs/surface-legacy.md`. */
export function legacyRoutes({ core, streams }: SurfaceContext): readonly Route[] {
  return [
    endpoint(
      'POST',
      '/api/sessions',
      handle(input.createSession, async ({ sessionId }, _req, res) => {
        const { session, created } = await core.createSession({ sessionId });
        res.json({ session_id: session.id, created });
      }),
    ),
    endpoint(
      'GET',
      '/api/sessions/:id',
      handle(input.nameSession, async ({ sessionId }, req, res) => {
        const threads = await core.getThreads(sessionId, walletProofOf(req));
        res.json({ session_id: sessionId, threads: threads.map(output.thread) });
      }),
    ),
    {
      ...endpoint(
        'POST',
        '/api/thread/chat',
        handle(input.sendMessage, async ({ sessionId, appKey, ...asked }, req, res) => {
          streams.takePlace(req, res, sessionId);
          const sent = await core.send({ ...asked, session: sentByHeader(sessionId), key: appKey });
          return streamTurn(streams, req, res, await core.watchTurn(sent));
        }),
      ),
      targetsApp: true,
      isStream: true,
    },
    endpoint(
      'GET',
      '/api/thread/state',
      handle(input.querySession, async (ids, _req, res) => {
        const session = await sentByBoth(core, ids);
        const snapshot = await core.snapshot(session, { leavesFaults: true });
        const pieces = output.stateJson(snapshot);
        countBody(res, lengthOf(pieces));
        addHeaders(res, JSON_TYPE);
        endWithPieces(res, pieces);
      }),
    ),
    endpoint(
      'POST',
      '/api/thread/interrupt',
      handle(input.querySession, async (ids, _req, res) => {
        res.json({ interrupted: await core.interrupt(await sentByBoth(core, ids)) });
      }),
    ),
    {
      ...endpoint(
        'GET',
        '/api/thread/updates',
        handle(input.subscribe, async ({ byHeader, byQuery, ...cursor }, req, res) => {
          const session = subscribed(byHeader, byQuery);
          streams.takePlace(req, res, session.id);
          const after = cursorOf(cursor);
          const feed = await core.updates(session, { after, turns: false });
          const ids = after !== null;
          await streams.stream(req, res, feed, (update) => updateFrame(session.id, update, { ids }));
        }),
      ),
      isStream: true,
    },
    endpoint(
      'POST',
      // The only control action.
      '/api/control/model',
      handle(input.selectModel, async ({ model, ...ids }, _req, res) => {
        const session = await sentByBoth(core, ids);
        await core.selectRig({ session, rig: model, key: undefined });
        res.json({ success: true });
      }),
    ),
    { ...endpoint('POST', '/api/control/:action', refuseAction), isLoose: true },
    endpoint(
      'GET',
      '/api/session/models',
      handle(input.listModels, async ({ sessionId }, _req, res) => {
        await touchByHeader(core, sessionId);
        res.json({ models: core.allRigs().map(output.model) });
      }),
    ),
    endpoint(
      'GET',
      '/api/session/apps',
      handle(input.listApps, async ({ sessionId, appKey }, _req, res) => {
        const apps = await core.listApps(appKey, { keyRequired: true });
        await touchByHeader(core, sessionId);
        res.json({ apps: apps.map(output.app) });
      }),
    ),
  ];
}

function endpoint(method: Method, path: string, ...handlers: RequestHandler[]): Route {
  return { method, path, targetsApp: false, dialect: output.legacyDialect, handlers };
}

const refuseAction: RequestHandler = () => {
  throw new RefusedError('not_found', 'there is no such control action: the only one is model');
};

/** Returns the session that a stream follows. The query parameter is for clients that cannot set headers. */
function subscribed(byHeader: string | undefined, byQuery: string | undefined): SessionRef {
  if (byHeader !== undefined) return sentByHeader(byHeader);
  if (byQuery !== undefined) return sentByQuery(byQuery);
  const message =
    'X-Session-Id is required: the UUID of the session, as a header or as the query parameter session_id';
  throw new RefusedError('invalid', message, [{ path: 'X-Session-Id', message }]);
}
