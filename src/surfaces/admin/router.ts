import type { RequestHandler } from 'express';
import type { Operator } from '../../core/operations/operator.js';
import type { RunningCore } from '../../core/create-core.js';
import { RefusedError } from '../../core/model/refusal.js';
import { carriesToken } from '../../http/request/bearer.js';
import { handle } from '../../http/validation/input.js';
import type { Dialect } from '../../http/response/errors.js';
import type { Method, Route } from '../../http/routing/route.js';
import { decodeCursor, encodeCursor } from '../shared/page-cursor.js';
import * as input from './input.js';
import * as output from './output.js';
import { reportCsv, reportJson } from './report.js';

/** The dependencies of the admin API. */
export interface AdminParts {
  readonly operator: Operator;
  readonly core: Pick<RunningCore, 'interrupt' | 'deleteSession' | 'usageReport'>;
  /** The bearer token of the operator. */
  readonly token: string;
  /** The names of the Apps that a new key can cover. */
  readonly apps: readonly string[];
}

const DAY_MS = 86_400_000;

/** The routes of the admin API, which belongs to no surface. Requests without the bearer token get 401. */
export function adminRoutes({ operator, core, token, apps }: AdminParts, dialect: Dialect): readonly Route[] {
  const isOperator = requireToken(token);
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
      handle(input.listSessions, async ({ limit, cursor }, _req, res) => {
        const after = cursor === undefined ? null : (decodeCursor(cursor) ?? null);
        const { sessions, next } = await operator.listSessions({ limit, after });
        res.json({
          sessions: sessions.map(output.session),
          next: next === null ? null : encodeCursor(next),
        });
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
    endpoint('GET', '/uses', async (_req, res) => {
      res.json({ uses: (await operator.listUses()).map(output.use) });
    }),
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
