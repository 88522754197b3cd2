import { handle } from '../../http/validation/input.js';
import type { Route } from '../../http/routing/route.js';
import { sentByHeader } from '../shared/session.js';
import type { SessionApi } from '../../core/api.js';
import { walletProofOf } from '../shared/wallet-proof.js';
import { endpoint } from './endpoint.js';
import * as input from './input.js';
import * as output from './output.js';
import { decodeCursor, encodeCursor } from '../shared/page-cursor.js';

/** The routes of sessions and threads, and of the messages of a thread. */
export function sessionRoutes(core: SessionApi): readonly Route[] {
  return [
    endpoint(
      'POST',
      '/api/sessions',
      handle(input.createSession, async (asked, req, res) => {
        const { session } = await core.createSession({ ...asked, walletProof: walletProofOf(req) });
        res.json(output.thread(session));
      }),
    ),
    endpoint(
      'GET',
      '/api/sessions',
      handle(input.listThreads, async ({ sessionId, wallet, limit, cursor }, req, res) => {
        const after = cursor === undefined ? null : (decodeCursor(cursor) ?? null);
        const session = sentByHeader(sessionId);
        const walletProof = walletProofOf(req);
        const { threads, next } = await core.listThreads({ session, wallet, walletProof, limit, after });
        if (next !== null) {
          const query = new URLSearchParams({
            public_key: wallet,
            limit: String(limit),
            cursor: encodeCursor(next),
          });
          // Appends, so that a link set earlier is kept.
          res.append('Link', `<${req.baseUrl}${req.path}?${query.toString()}>; rel="next"`);
        }
        res.json(threads.map(output.thread));
      }),
    ),
    endpoint(
      'GET',
      '/api/sessions/:id',
      handle(input.nameSession, async ({ sessionId }, _req, res) => {
        res.json(output.thread(await core.getSession(sessionId)));
      }),
    ),
    endpoint(
      'PATCH',
      '/api/sessions/:id',
      handle(input.renameSession, async ({ sessionId, title }, _req, res) => {
        res.json(output.thread(await core.renameSession(sessionId, title)));
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
        res.json(output.archived(await core.archiveSession(sessionId, true)));
      }),
    ),
    endpoint(
      'POST',
      '/api/sessions/:id/unarchive',
      handle(input.nameSession, async ({ sessionId }, _req, res) => {
        res.json(output.archived(await core.archiveSession(sessionId, false)));
      }),
    ),
    endpoint(
      'GET',
      '/api/sessions/:id/messages',
      handle(input.readMessages, async ({ sessionId, limit, before }, _req, res) => {
        const page = await core.readMessages(sessionId, { limit, before: before ?? null });
        const messages = page.messages.map((message) => output.record(sessionId, message));
        res.json({ messages, has_more: page.hasMore });
      }),
    ),
  ];
}
