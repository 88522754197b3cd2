import type { Request, RequestHandler } from 'express';
import type { Operator } from '../../core/operations/operator.js';
import type { Log } from '../../core/ports/log.js';
import type { RunningCore } from '../../core/create-core.js';
import { RefusedError } from '../../core/model/refusal.js';
import { carriesToken } from '../../http/request/bearer.js';
import { handle } from '../../http/validation/input.js';
import type { Dialect } from '../../http/response/errors.js';
import type { Method, Route } from '../../http/routing/route.js';
import { positionOf, encodeCursor } from '../shared/page-cursor.js';
import { sessionMark } from '../shared/session.js';
import { record } from '../shared/shapes.js';
import { readAll, sendExport } from './export.js';
import * as input from './input.js';
import * as output from './output.js';
import { reportCsv, reportJson } from './report.js';

/** The dependencies of the admin API. */
export interface AdminParts {
  readonly operator: Operator;
  readonly core: Pick<RunningCore, 'interrupt' | 'deleteSession' | 'usageReport'>;
  /** Receives a line for each conversation that the operator reads. */
  readonly log: Log;
  /** The bearer token of the operator. */
  readonly token: string;
  /** The names of the Apps that a new key can cover. */
  readonly apps: readonly string[];
}

const DAY_MS = 86_400_000;

/** The routes of the admin API, which belongs to no surface. Requests without the bearer token get 401. */
export function adminRoutes(
  { operator, core, log, token, apps }: AdminParts,
  dialect: Dialect,
): readonly Route[] {
  const isOperator = requireToken(token);
  const logReading = (req: Request, sessionId: string, message: string): void => {
    log.info({ session: sessionMark(sessionId), peer: req.ip }, message);
  };
  const endpoint = (method: Method, path: string, handler: RequestHandler): Route => ({
    ...{ method, path: `/admin/api${path}`, targetsApp: false, dialect },
    handlers: [isOperator, handler],
  });
  return [
    endpoint(
      'GET',
      '/overview',
      handle(input.overview, async ({ span }, _req, res) => {
        const shown = await operator.overview(span === 'day' ? 'day' : 'hour');
        res.json({ ...output.overview(shown), apps });
      }),
    ),
    endpoint(
      'GET',
      '/sessions',
      handle(input.listSessions, async ({ query, limit, cursor }, _req, res) => {
        const after = positionOf(cursor);
        const { sessions, next } = await operator.listSessions({ query, limit, after });
        res.json({
          sessions: sessions.map(output.session),
          next: next === null ? null : encodeCursor(next),
        });
      }),
    ),
    endpoint(
      'GET',
      '/search',
      handle(input.searchMessages, async ({ text, limit, cursor }, req, res) => {
        const after = positionOf(cursor);
        const { found, next } = await operator.searchMessages({ text, limit, after });
        log.info({ found: found.length, peer: req.ip }, 'the operator searched messages');
        for (const { session } of found)
          logReading(req, session.id, 'the operator read a message of a session');
        res.setHeader('Cache-Control', 'no-store');
        res.json({ sessions: found.map(output.foundText), next: next === null ? null : encodeCursor(next) });
      }),
    ),
    endpoint(
      'GET',
      '/sessions/:id/messages',
      handle(input.readMessages, async ({ sessionId, limit, before }, req, res) => {
        const session = await operator.readSession(sessionId);
        const page = await operator.readMessages(sessionId, { limit, before: before ?? null });
        logReading(req, sessionId, 'the operator read a session');
        res.setHeader('Cache-Control', 'no-store');
        res.json({
          ...output.session(session),
          messages: page.messages.map((message) => record(sessionId, message)),
          has_more: page.hasMore,
        });
      }),
    ),
    endpoint(
      'GET',
      '/sessions/:id/export',
      handle(input.exportSession, async ({ sessionId, format }, req, res) => {
        const session = await operator.readSession(sessionId);
        const messages = await readAll(operator, sessionId);
        logReading(req, sessionId, 'the operator exported a session');
        res.setHeader('Cache-Control', 'no-store');
        await sendExport(res, { session, messages, format: format === 'markdown' ? 'markdown' : 'json' });
      }),
    ),
    endpoint(
      'POST',
      '/sessions/:id/interrupt',
      handle(input.nameSession, async ({ sessionId }, _req, res) => {
        res.json({ interrupted: await core.interrupt({ id: sessionId, ifUnknown: 'refuse' }) });
      }),
    ),
    endpoint(
      'DELETE',
      '/sessions/:id',
      handle(input.nameSession, async ({ sessionId }, _req, res) => {
        await core.deleteSession(sessionId);
        res.json({ session_id: sessionId, deleted: true });
      }),
    ),
    endpoint(
      'GET',
      '/uses',
      handle(input.listUses, async ({ days }, _req, res) => {
        const [uses, work] = await Promise.all([operator.listUses(), operator.listWork(days)]);
        res.json({ uses: uses.map(output.use), days, work: work.map(output.work) });
      }),
    ),
    endpoint(
      'GET',
      '/report',
      handle(input.report, async ({ days, format }, _req, res) => {
        const found = await core.usageReport({ days });
        if (format === 'csv') res.type('text/csv').send(reportCsv(found));
        else res.json(reportJson(found));
      }),
    ),
    endpoint('GET', '/secrets', async (_req, res) => {
      res.json(output.secrets(await operator.secrets()));
    }),
    endpoint('GET', '/keys', async (_req, res) => {
      res.json({ keys: (await operator.listKeys()).map(output.key) });
    }),
    endpoint(
      'POST',
      '/keys',
      handle(input.createKey, async ({ apps: names, label, days }, _req, res) => {
        const lifetime = days === undefined ? null : days * DAY_MS;
        const { key, stored } = await operator.createKey({ apps: names, label, lifetime });
        res.json(output.newKey(key, stored));
      }),
    ),
    endpoint(
      'DELETE',
      '/keys/:id',
      handle(input.nameKey, async ({ id }, _req, res) => {
        await operator.revokeKey(id);
        res.json({ id, revoked: true });
      }),
    ),
  ];
}

function requireToken(token: string): RequestHandler {
  return (req, res, next) => {
    // Pages of other origins must not read the response.
    res.removeHeader('Access-Control-Allow-Origin');
    if (carriesToken(req.headers.authorization, token)) {
      next();
      return;
    }
    res.setHeader('WWW-Authenticate', 'Bearer realm="admin"');
    throw new RefusedError('unauthenticated', 'Authorization: Bearer with the ADMIN_TOKEN is required');
  };
}
