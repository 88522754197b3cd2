import { handle } from '../../http/validation/input.js';
import type { Route } from '../../http/routing/route.js';
import { sentByHeader } from '../shared/session.js';
import type { SessionApi } from '../../core/api.js';
import { walletProofOf } from '../shared/wallet-proof.js';
import { endpoint } from './endpoint.js';
import * as input from './input.js';
import { thread, turnSummary } from './output.js';
import { positionOf, linkNextPage } from '../shared/page-cursor.js';
import { archived, record } from '../shared/shapes.js';

/** The routes of sessions and threads, and of the messages of a thread. */
export function sessionRoutes(core: SessionApi): readonly Route[] {
  return [
    endpoint(
      'POST',
      '/api/sessions',
      handle(input.createSession, async (asked, req, res) => {
        const { session } = await core.createSession({ ...asked, walletProof: walletProofOf(req) });
        res.json(thread(session));
      }),
    ),
    endpoint(
      'GET',
      '/api/sessions',
      handle(input.listThreads, async ({ sessionId, wallet, limit, cursor }, req, res) => {
        const after = positionOf(cursor);
        const session = sentByHeader(sessionId);
        const walletProof = walletProofOf(req);
        const { threads, next } = await core.listThreads({ session, wallet, walletProof, limit, after });
        if (next !== null) linkNextPage(req, res, { wallet, limit, next });
        res.json(threads.map(thread));
      }),
    ),
    endpoint(
      'GET',
      '/api/sessions/:id',
      handle(input.nameSession, async ({ sessionId }, _req, res) => {
        res.json(thread(await core.getSession(sessionId)));
      }),
    ),
    endpoint(
      'PATCH',
      '/api/sessions/:id',
      handle(input.renameSession, async ({ sessionId, title }, _req, res) => {
        res.json(thread(await core.renameSession(sessionId, title)));
      }),
    ),
    endpoint(
      'DELETE',
      '/api/sessions/:id',
      handle(input.nameSession, async ({ sessionId }, _req, res) => {
        await core.deleteSession(sessionId);
        res.json({ session_id: sessionId, deleted: true });
      }),
    ),
    endpoint(
      'POST',
      '/api/sessions/:id/archive',
      handle(input.nameSession, async ({ sessionId }, _req, res) => {
        res.json(archived(await core.archiveSession(sessionId, true)));
      }),
    ),
    endpoint(
      'POST',
      '/api/sessions/:id/unarchive',
      handle(input.nameSession, async ({ sessionId }, _req, res) => {
        res.json(archived(await core.archiveSession(sessionId, false)));
      }),
    ),
    endpoint(
      'POST',
      '/api/sessions/:id/branch',
      handle(input.branchSession, async ({ sessionId, before = null, idempotencyKey }, req, res) => {
        const walletProof = walletProofOf(req);
        const branch = await core.branchSession({ sessionId, before, idempotencyKey, walletProof });
        res.json(thread(branch));
      }),
    ),
    endpoint(
      'GET',
      '/api/sessions/:id/messages',
      handle(input.readMessages, async ({ sessionId, limit, before = null, include }, _req, res) => {
        const page = await core.readMessages(sessionId, { limit, before });
        if (include === undefined) {
          const messages = page.messages.map((message) => record(sessionId, message));
          res.json({ messages, has_more: page.hasMore });
          return;
        }
        const turns = await core.readTurns(sessionId, page.messages);
        const messages = page.messages.map((message) => ({
          ...record(sessionId, message),
          turn_id: message.turnId,
        }));
        res.json({ messages, has_more: page.hasMore, turns: turns.map(turnSummary) });
      }),
    ),
  ];
}
