import type { Request, RequestHandler, Response } from 'express';
import { readBody } from '../http/request/body.js';
import type { Dialect } from '../http/response/errors.js';
import { handle, isBlank } from '../http/validation/input.js';
import { readQuery } from '../http/validation/query.js';
import { withoutThose, type Method, type Route } from '../http/routing/route.js';
import * as currentInput from './current/input.js';
import * as currentOutput from './current/output.js';
import { currentRoutes } from './current/router.js';
import * as legacyInput from './legacy/input.js';
import * as legacyOutput from './legacy/output.js';
import { legacyRoutes } from './legacy/router.js';
import type { SurfaceContext } from './shared/context.js';
import { selection } from './shared/shapes.js';
import { sentByBoth, sentByHeader } from './shared/session.js';
import { walletProofOf } from './shared/wallet-proof.js';

/**
 * The error format of paths that both surfaces share: that of the current surface, whose `error` field the legacy
 * format has, too.
 */
export const mergedDialect: Dialect = { ...currentOutput.currentDialect, name: 'merged' };

/**
 * Merges both surfaces under one base. On the three paths that both define, responses contain the fields of both
 * documents.
 */
export function mergeRoutes(parts: SurfaceContext): readonly Route[] {
  const shared = sharedRoutes(parts);
  // The legacy routes come last, because `/api/control/:action` would otherwise match paths of the current surface.
  const current = withoutThose(currentRoutes(parts), shared);
  return [...shared, ...current, ...withoutThose(legacyRoutes(parts), [...shared, ...current])];
}

function sharedRoutes({ core }: Pick<SurfaceContext, 'core'>): readonly Route[] {
  const selectAsCurrent = handle(
    currentInput.selectModel,
    async ({ sessionId, rig, baml, app, appKey }, _req, res) => {
      const session = sentByHeader(sessionId);
      const { created } = await core.selectRig({ session, rig, app, key: appKey });
      res.json(selection(rig, baml, created));
    },
  );
  const selectAsLegacy = handle(legacyInput.selectModel, async ({ model, ...ids }, _req, res) => {
    const session = await sentByBoth(core, ids);
    const { created } = await core.selectRig({ session, rig: model, key: undefined, parameter: 'model' });
    res.json(selection(model, undefined, created));
  });
  return [
    endpoint(
      'POST',
      '/api/sessions',
      spokenByKey,
      handle(currentInput.createSession, async (asked, req, res) => {
        const walletProof = walletProofOf(req);
        const { session, created } = await core.createSession({ ...asked, walletProof });
        res.json({ ...currentOutput.thread(session), created });
      }),
    ),
    endpoint(
      'GET',
      '/api/sessions/:id',
      spokenByKey,
      handle(currentInput.nameSession, async ({ sessionId }, req, res) => {
        const session = await core.getSession(sessionId);
        const threads = await core.getThreads(sessionId, walletProofOf(req));
        res.json({ ...currentOutput.thread(session), threads: threads.map(legacyOutput.thread) });
      }),
    ),
    {
      ...endpoint('POST', '/api/control/model', spokenBySelection, async (req, res, next) => {
        await ((await isLegacySelection(req, res)) ? selectAsLegacy : selectAsCurrent)(req, res, next);
      }),
      targetsApp: true,
    },
  ];
}

const SELECTION = new Set(['rig', 'session_id', 'model']);

/** True for a legacy request: its `rig` is absent, null or blank, and it has a `session_id` in the query or a `model`. */
async function isLegacySelection(req: Request, res: Response): Promise<boolean> {
  const query = readQuery(req.url, SELECTION);
  const body = await readBody(req, res);
  const fields = body.kind === 'object' ? body.fields : {};
  const has = (name: string) => Object.hasOwn(query, name) || Object.hasOwn(fields, name);
  const hasRig = [query.rig, fields.rig].some((rig) => rig !== undefined && rig !== null && !isBlank(rig));
  return !hasRig && (Object.hasOwn(query, 'session_id') || has('model'));
}

async function spokenBySelection(req: Request, res: Response): Promise<string> {
  return (await isLegacySelection(req, res)) ? 'legacy' : 'current';
}

/**
 * Returns the dialect of a request on sessions. Such requests are the same on both surfaces except for the header of
 * the App key, so only a legacy key header indicates the legacy surface.
 */
function spokenByKey({ headers }: Request): string {
  const isLegacy = headers['x-api-key'] !== undefined && headers['service-app-key'] === undefined;
  return isLegacy ? 'legacy' : 'current';
}

function endpoint(
  method: Method,
  path: string,
  spoken: NonNullable<Route['spoken']>,
  handler: RequestHandler,
): Route {
  return { method, path, targetsApp: false, dialect: mergedDialect, handlers: [handler], spoken };
}
