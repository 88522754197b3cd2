import { PLACEHOLDER_TITLE } from '../../core/model/session.js';
import { handle } from '../../http/validation/input.js';
import type { Route } from '../../http/routing/route.js';
import { positionOf, linkNextPage } from '../shared/page-cursor.js';
import { record } from '../shared/shapes.js';
import { endpoint, inSession, pathSession, type FieldParts } from './endpoint.js';
import * as input from './input.js';
import { listedThread, thread } from './output.js';
import { walletOf } from './wallet-binding.js';

/** The routes of sessions and threads, and of the messages of a thread. */
export function sessionRoutes(parts: FieldParts): readonly Route[] {
  const { core } = parts;
  return [
    endpoint(
      'POST',
      '/api/sessions',
      inSession(parts, input.createSession, async (asked, named, _req, res) => {
        const { session: ref, sentId } = named;
        if (ref === undefined) {
          res.json(thread(sentId, { title: PLACEHOLDER_TITLE }));
          return;
        }
        const { wallet, userState } = walletOf(named, asked);
        const { session } = await core.createSession({ sessionId: ref.id, wallet });
        if (userState !== undefined) await core.snapshot(ref, { userState, leavesFaults: true });
        res.json(thread(sentId, session));
      }),
    ),
    endpoint(
      'GET',
      '/api/sessions',
      handle(input.listThreads, async ({ wallet, limit, cursor }, req, res) => {
        const after = positionOf(cursor);
        const { threads, next } = await core.listThreads({ session: undefined, wallet, limit, after });
        if (next !== null) linkNextPage(req, res, { wallet, limit, next });
        res.json(threads.map((one) => listedThread(one.id, one)));
      }),
    ),
    endpoint(
      'GET',
      '/api/sessions/:id',
      inSession(parts, input.nameSession, async (_asked, named, _req, res) => {
        res.json(listedThread(named.sentId, await core.getSession(pathSession(named))));
      }),
    ),
    endpoint(
      'PATCH',
      '/api/sessions/:id',
      inSession(parts, input.renameSession, async ({ title }, named, _req, res) => {
        res.json(thread(named.sentId, await core.renameSession(pathSession(named), title)));
      }),
    ),
    endpoint(
      'DELETE',
      '/api/sessions/:id',
      inSession(parts, input.nameSession, async (_asked, named, _req, res) => {
        await core.deleteSession(pathSession(named));
        res.json({ session_id: named.sentId, deleted: true });
      }),
    ),
    archive('/api/sessions/:id/archive', true),
    archive('/api/sessions/:id/unarchive', false),
    endpoint(
      'GET',
      '/api/sessions/:id/messages',
      inSession(parts, input.readMessages, async ({ limit, before = null }, named, _req, res) => {
        const page = await core.readMessages(pathSession(named), { limit, before });
        const messages = page.messages.map((message) => record(named.sentId, message));
        res.json({ messages, has_more: page.hasMore });
      }),
    ),
  ];

  function archive(path: string, isArchived: boolean): Route {
    return endpoint(
      'POST',
      path,
      inSession(parts, input.archiveSession, async (_asked, named, _req, res) => {
        const { archived } = await core.archiveSession(pathSession(named), isArchived);
        res.json({ session_id: named.sentId, is_archived: archived });
      }),
    );
  }
}
