/**
 * What the composition root needs of the surfaces:
 *
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

/** Every surface there is: a line each. Its OpenAPI document is loaded when somebody reads it. */
const SURFACES = {
  current: { routes: currentRoutes, dialect: currentDialect, describe: describeCurrent },
  legacy: { routes: legacyRoutes, dialect: legacyDialect, describe: describeLegacy },
} as const;

/** A surface that can be exposed. */
export type SurfaceName = keyof typeof SURFACES;

/** What is served under one base URL. */
export interface Mount {
  readonly base: string;
  readonly routes: readonly Route[];
  /** The shape of errors on paths that no route knows. */
  readonly dialect: Dialect;
}

/**
 * Paths that belong to no surface: served at the root alone, with errors in the shape that the root has. Logs call them
 * `page`.
 */
export type RootPages = (dialect: Dialect) => readonly Route[];

/**
 * Everything that is served: at the root the single exposed surface or the merger of all, with the health probes; and
 * each exposed surface at a base URL of its own.
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

/** The exposed surfaces by name, each with what makes its OpenAPI document. */
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
 * Every path of the exposed surfaces.
 * @param options `surfaces`: at least one; `pages`: what is served beside them; `observer`: is told of streams
 * @returns the router, the streams that it has open, and the shape of errors before a route is known
 */
export function createRouter(options: {
  readonly core: Core;
  readonly surfaces: readonly SurfaceName[];
  readonly http: HttpSettings;
  readonly pages?: readonly RootPages[];
  readonly observer?: RequestObserver | undefined;
  /** Absent: nothing is said of the legacy surface's end. */
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
