import { addHeaders } from '../../http/response/header-list.js';
import { handle } from '../../http/validation/input.js';
import { preferredWait } from '../../http/request/prefer.js';
import type { Route } from '../../http/routing/route.js';
import { cursorOf } from '../shared/cursor.js';
import type { Update } from '../../core/model/update.js';
import { updateFrame } from '../shared/events.js';
import type { ChatApi, StreamApi } from '../../core/api.js';
import type { Streams } from '../../http/sse/streams.js';
import { sentByHeader } from '../shared/session.js';
import { systemEvent } from '../shared/system-messages.js';
import { walletProofOf } from '../shared/wallet-proof.js';
import { sendSnapshot, sendState } from './answer.js';
import { appEndpoint, endpoint } from './endpoint.js';
import * as input from './input.js';
import { requireEventStream } from '../shared/stream-request.js';
import { MAX_WAIT, snapshotAfter, waitForTurn } from '../shared/waiting.js';

/** The routes of messages, state, interrupt and updates. */
export function chatRoutes(core: ChatApi & StreamApi, streams: Streams): readonly Route[] {
  return [
    appEndpoint(
      'POST',
      '/api/chat',
      handle(input.sendMessage, async ({ sessionId, message, appKey, ...asked }, req, res) => {
        const session = sentByHeader(sessionId);
        const walletProof = walletProofOf(req);
        const sent = await core.send({ ...asked, session, text: message, key: appKey, walletProof });
        const seconds = preferredWait(req.get('prefer'), MAX_WAIT);
        if (seconds !== undefined) {
          await waitForTurn(core, sent, res, seconds);
          res.setHeader('Preference-Applied', `wait=${String(seconds)}`);
        }
        const snapshot = await snapshotAfter(core, session);
        addHeaders(res, ['X-Turn-Id', sent.turnId]);
        sendSnapshot(req, res, snapshot);
      }),
    ),
    endpoint(
      'GET',
      '/api/state',
      handle(input.readState, ({ sessionId, tail, userState }, req, res) =>
        onceThere(core.snapshot(sentByHeader(sessionId), { userState, tail }), (snapshot) => {
          sendState(req, res, snapshot, tail);
        }),
      ),
    ),
    endpoint(
      'POST',
      '/api/interrupt',
      handle(input.interrupt, async ({ sessionId }, req, res) => {
        const session = sentByHeader(sessionId);
        await core.interrupt(session);
        sendSnapshot(req, res, await core.snapshot(session));
      }),
    ),
    {
      ...endpoint(
        'GET',
        '/api/updates',
        handle(input.subscribe, async ({ sessionId, include, ...cursor }, req, res) => {
          requireEventStream(req);
          streams.takePlace(req, res, sessionId);
          const turns = include !== undefined;
          const feed = await core.updates(sentByHeader(sessionId), { after: cursorOf(cursor), turns });
          const frame = (update: Update) => updateFrame(sessionId, update, { ids: true });
          await streams.stream(req, res, feed, frame, { opening: turns });
        }),
      ),
      isStream: true,
    },
    endpoint(
      'GET',
      '/api/events',
      handle(input.listEvents, async ({ sessionId, count }, _req, res) => {
        const events = await core.systemEvents(sentByHeader(sessionId), count);
        res.json(events.map(systemEvent));
      }),
    ),
  ];
}

/** Passes a value on, synchronously if it is not a promise, as in nearly every poll. */
function onceThere<T>(value: T | Promise<T>, act: (value: T) => void): Promise<void> | undefined {
  if (value instanceof Promise) return value.then(act);
  act(value);
  return undefined;
}
