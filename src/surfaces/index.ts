/**
 * The entry point of the surfaces, for the composition root:
 *     const routed = createRouter({ core, surfaces, http: settings, pages });
 *     const http = createHttpServer({ ...routed, log, http: settings });
 *     http.server.listen(port, host);
 *     …
 *     http.drain(); await core.drain(ms); await http.close(graceMs);
 */
import type { RequestHandler } from 'express';
import type { Core } from '../core/api.js';
import type { Dialect } from '../http/response/errors.js';
import type { RequestObserver } from '../http/observer.js';
import { withoutThose, type Route } from '../http/routing/route.js';
import { RouteTable } from '../http/routing/route-table.js';
import { limitRate } from '../http/guards/rate-limit.js';
import type { HttpSettings } from '../http/settings.js';
import { createStreams, type Streams } from '../http/sse/streams.js';
import { admit } from './shared/admission.js';
import { currentDialect } from './current/output.js';
import { currentRoutes } from './current/router.js';
import { createNotice, noticeAll, noticeDialect, type LegacySettings } from './shared/deprecation.js';
import { healthProbe, healthWord } from './shared/health.js';
import { legacyDialect } from './legacy/output.js';
import { legacyRoutes } from './legacy/router.js';
import { mergedDialect, mergeRoutes } from './merged.js';
import type { Deployment, Document } from './openapi/document.js';
import type { SurfaceContext } from './shared/context.js';
import { countRoutes } from './shared/usage.js';

/** All surfaces. An OpenAPI document is loaded on the first request for it. */
const SURFACES = {
  current: { routes: currentRoutes, dialect: currentDialect, describe: describeCurrent },
  legacy: { routes: legacyRoutes, dialect: legacyDialect, describe: describeLegacy },
} as const;

/** A surface that can be exposed. */
export type SurfaceName = keyof typeof SURFACES;

/** The routes served under one base URL. */
export interface Mount {
  readonly base: string;
  readonly routes: readonly Route[];
  /** The error format of unknown paths. */
  readonly dialect: Dialect;
}

/**
 * Creates routes that belong to no surface, served at the root only, with the error format of the root. Logs name their
 * surface `page`.
 */
export type RootPages = (dialect: Dialect) => readonly Route[];

/**
 * Lists all mounts: at the root, the only exposed surface or the merger of all, with the health probes; and each
 * exposed surface under its own base URL.
 */
export function listMounts(
  parts: SurfaceContext,
  names: readonly SurfaceName[],
): readonly [Mount, ...Mount[]] {
  const own = names.map((name): Mount => {
    const { routes, dialect } = SURFACES[name];
    return { base: `/${name}`, routes: routes(parts), dialect };
  });
  const [only, ...others] = own;
  if (only === undefined) throw new RangeError('at least one surface must be exposed');
  const { routes, dialect } =
    others.length === 0 ? only : { routes: mergeRoutes(parts), dialect: mergedDialect };
  const probes = [healthProbe(parts, dialect), healthWord(dialect)];
  return [{ base: '', routes: [...routes, ...withoutThose(probes, routes)], dialect }, ...own];
}

/** Lists the exposed surfaces with the functions that create their OpenAPI documents. */
export function listDescriptions(
  deployment: Deployment & { readonly surfaces: readonly SurfaceName[] },
): readonly { readonly name: SurfaceName; describe(): Promise<Document> }[] {
  const names = [...new Set(deployment.surfaces)];
  return names.map((name) => ({ name, describe: () => SURFACES[name].describe(deployment) }));
}

async function describeCurrent(deployment: Deployment): Promise<Document> {
  return (await import('./current/openapi/document.js')).describeCurrent(deployment);
}

async function describeLegacy(deployment: Deployment): Promise<Document> {
  return (await import('./legacy/openapi/document.js')).describeLegacy(deployment);
}

/**
 * Creates the router for all exposed surfaces and pages.
 * @param options `surfaces`: at least one; `pages`: routes beside the surfaces; `observer`: is notified of streams
 * @returns the router, its streams, and the error format for requests without a known route
 */
export function createRouter(options: {
  readonly core: Core;
  readonly surfaces: readonly SurfaceName[];
  readonly http: HttpSettings;
  readonly pages?: readonly RootPages[];
  readonly observer?: RequestObserver | undefined;
  /** Absent: responses carry no deprecation headers. */
  readonly legacy?: LegacySettings;
}): {
  readonly router: RequestHandler;
  readonly streams: Streams;
  readonly dialect: Dialect;
} {
  const { core, http } = options;
  const streams = createStreams(http, options.observer);
  const names = [...new Set(options.surfaces)];
  const about = { version: http.version, surfaces: names };
  const mounts = listMounts({ core, streams, about }, names);
  const table = new RouteTable();
  const limited = limitRate(http);
  const before = [...limited, ...(core.countsRequests ? [admit(core)] : [])];
  const successor = names.includes('current') ? '/current/api' : null;
  const notice = options.legacy && createNotice(options.legacy, successor);
  const aheadOf = (dialect: Dialect) => (dialect === legacyDialect ? noticeAll(notice) : []);
  const atRoot = [...noticeDialect(notice, legacyDialect.name), ...before];
  for (const { base, routes, dialect } of mounts) {
    const counted = countRoutes(routes, { core, notice });
    if (base === '') table.mount({ base, routes: counted, dialect, before: atRoot });
    else table.mount({ base, routes: counted, dialect, ahead: aheadOf(dialect), before });
  }
  const beside: Dialect = { ...mounts[0].dialect, name: 'page' };
  const pages = options.pages?.flatMap((page) => page(beside)) ?? [];
  table.mount({ base: '', routes: pages, dialect: beside, before: limited });
  return { router: table.handle, streams, dialect: mounts[0].dialect };
}
