import type { Request, Response } from 'express';
import { DEFAULT_APP } from '../../core/model/app.js';
import type { JsonObject } from '../../core/model/json.js';
import { RefusedError } from '../../core/model/refusal.js';
import type { Sent } from '../../core/model/send-request.js';
import type { SessionRef } from '../../core/model/session.js';
import type { Snapshot } from '../../core/model/snapshot.js';
import { preferredWait } from '../../http/request/prefer.js';
import type { Route } from '../../http/routing/route.js';
import { systemEvent } from '../shared/system-messages.js';
import { MAX_WAIT, snapshotAfter, waitForTurn } from '../shared/waiting.js';
import { appEndpoint, endpoint, inSession, unlessDeleted, type FieldParts } from './endpoint.js';
import * as input from './input.js';
import { emptySnapshot, snapshots } from './output.js';
import type { NamedSession } from './session-id.js';
import { streamUpdates } from './updates.js';
import { walletOf } from './wallet-binding.js';

/** The routes of messages, state, interrupt and updates. A deleted session is an empty one. */
export function chatRoutes(parts: FieldParts): readonly Route[] {
  const { core } = parts;
  return [
    appEndpoint(
      'POST',
      '/api/chat',
      inSession(parts, input.sendMessage, async (asked, named, req, res) => {
        const { session } = named;
        if (session === undefined || asked.message.trim() === '') {
          snapshots.send(req, res, await snapshotOf(named));
          return;
        }
        const { message: text, appKey: key, clientId, idempotencyKey } = asked;
        const app = input.appOf(asked) ?? DEFAULT_APP;
        const request = { session, text, app, key, clientId, idempotencyKey };
        const sent = await withoutFullState(asked, (fields) =>
          core.send({ ...request, ...walletOf(named, fields) }),
        );
        const answer = await unlessDeleted(answerTo(session, sent, req, res), emptySnapshot);
        res.setHeader('X-Turn-Id', sent.turnId);
        snapshots.send(req, res, answer);
      }),
    ),
    endpoint(
      'GET',
      '/api/state',
      inSession(parts, input.readState, async ({ tail, userState, clientId }, named, req, res) => {
        const { session } = named;
        const hasChange = userState !== undefined || clientId !== undefined;
        const snapshot =
          session === undefined || !hasChange
            ? snapshotOf(named, tail)
            : unlessDeleted(changed(session, { userState, clientId, tail }), emptySnapshot);
        snapshots.sendState(req, res, await snapshot, tail);
      }),
    ),
    endpoint(
      'POST',
      '/api/interrupt',
      inSession(parts, input.interrupt, async (_asked, named, req, res) => {
        const { session } = named;
        if (session !== undefined) await unlessDeleted(core.interrupt(session), () => false);
        snapshots.send(req, res, await snapshotOf(named));
      }),
    ),
    {
      ...endpoint(
        'GET',
        '/api/updates',
        inSession(parts, input.subscribe, (asked, named, req, res) =>
          streamUpdates(parts, named, { asked, req, res }),
        ),
      ),
      isStream: true,
    },
    endpoint(
      'GET',
      '/api/events',
      inSession(parts, input.listEvents, async ({ count }, { session }, _req, res) => {
        const events = session === undefined ? [] : await core.systemEvents(session, count);
        res.json(events.map(systemEvent));
      }),
    ),
  ];

  async function snapshotOf({ session }: NamedSession, tail?: number): Promise<Snapshot> {
    if (session === undefined) return emptySnapshot();
    return unlessDeleted(core.snapshot(session, { tail }), emptySnapshot);
  }

  /** Returns the snapshot after a message was accepted, or after its turn has ended if the client prefers to wait. */
  async function answerTo(session: SessionRef, sent: Sent, req: Request, res: Response): Promise<Snapshot> {
    const seconds = preferredWait(req.get('prefer'), MAX_WAIT);
    if (seconds !== undefined) {
      await waitForTurn(core, sent, res, seconds);
      res.setHeader('Preference-Applied', `wait=${String(seconds)}`);
    }
    return snapshotAfter(core, session);
  }

  /** Returns the snapshot after a poll has changed the session. A poll does not bring back a deleted session. */
  async function changed(
    session: SessionRef,
    {
      userState,
      clientId,
      tail,
    }: { userState: JsonObject | undefined; clientId: string | undefined; tail: number | undefined },
  ): Promise<Snapshot> {
    await core.snapshot(session, { leavesFaults: true, tail: tail === undefined ? undefined : 0 });
    if (clientId !== undefined) await core.bindClient(session, clientId);
    return core.snapshot(session, { userState, tail });
  }
}

/** What a message says about the wallet. */
interface WalletFields {
  readonly wallet: string | undefined;
  readonly userState?: JsonObject | undefined;
}

/** Sends a message, and once more without its user state if the session has no room for that. */
async function withoutFullState(
  { wallet, userState }: WalletFields,
  send: (fields: WalletFields) => Promise<Sent>,
): Promise<Sent> {
  try {
    return await send({ wallet, userState });
  } catch (error) {
    const isFull = error instanceof RefusedError && error.details.some(({ path }) => path === 'user_state');
    if (userState === undefined || !isFull) throw error;
    return send({ wallet });
  }
}
