/**
 * The entry point of the surfaces, for the composition root:
 *     const routed = createRouter({ core, surfaces, http: settings, pages });
 *     const http = createHttpServer({ ...routed, log, http: settings });
 *     http.server.listen(port, host);
 *     …
 *     http.drain(); await core.drain(ms); await http.close(graceMs);
 */
import type { Request, RequestHandler } from 'express';
import type { Core } from '../core/api.js';
import type { Dialect } from '../http/response/errors.js';
import type { RequestObserver } from '../http/observer.js';
import { withoutThose, type Route } from '../http/routing/route.js';
import { RouteTable } from '../http/routing/route-table.js';
import { limitRate, type RateLimit } from '../http/guards/rate-limit.js';
import { clientAddress } from '../http/request/client-address.js';
import type { HttpSettings } from '../http/settings.js';
import { createStreams, type Streams } from '../http/sse/streams.js';
import { admit } from './shared/admission.js';
import { currentDialect } from './current/output.js';
import { currentRoutes } from './current/router.js';
import { createNotice, noticeAll, noticeDialect, type LegacySettings } from './shared/deprecation.js';
import { healthProbe, healthWord } from './shared/health.js';
import { fieldDialect } from './field/output.js';
import { allowFieldHeaders } from './field/preflight.js';
import { fieldRoutes, IDLE_STREAM_MS } from './field/router.js';
import { legacyDialect } from './legacy/output.js';
import { legacyRoutes } from './legacy/router.js';
import { mergedDialect, mergeRoutes } from './merged.js';
import type { Deployment, Document } from './openapi/document.js';
import { CURRENT_KEY_HEADER, keyReader, LEGACY_KEY_HEADER } from './shared/app-key.js';
import type { FieldSettings, SurfaceContext } from './shared/context.js';
import { countRoutes } from './shared/usage.js';

/**
 * All surfaces, and whether they are merged at the root. An OpenAPI document is loaded on the first request for it.
 */
const SURFACES = {
  current: { routes: currentRoutes, dialect: currentDialect, describe: describeCurrent, isMerged: true },
  legacy: { routes: legacyRoutes, dialect: legacyDialect, describe: describeLegacy, isMerged: true },
  field: { routes: fieldRoutes, dialect: fieldDialect, describe: describeField, isMerged: false },
} as const;

/** A surface that can be exposed. */
export type SurfaceName = keyof typeof SURFACES;

/** Who serves `/api`: the merger of the surfaces that can be merged, or the field surface. */
export type RootSurface = 'merged' | 'field';

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

/** Lists all mounts: the surface at the root, with the health probes; and each exposed surface under its own base URL. */
export function listMounts(
  parts: SurfaceContext,
  names: readonly SurfaceName[],
  root: RootSurface = 'merged',
): readonly [Mount, ...Mount[]] {
  const own = names.map((name): Mount => {
    const { routes, dialect } = SURFACES[name];
    return { base: `/${name}`, routes: routes(parts), dialect };
  });
  const { routes, dialect } = rootOf(parts, { names, own, root });
  const probes = [healthProbe(parts, dialect), healthWord(dialect)];
  return [{ base: '', routes: [...routes, ...withoutThose(probes, routes)], dialect }, ...own];
}

/**
 * Returns the mount to repeat at the root: the one that the settings name, else the merger of the surfaces that are
 * merged, or the only one.
 * @throws RangeError when no surface is exposed, or not the one that the settings name
 */
function rootOf(
  parts: SurfaceContext,
  {
    names,
    own,
    root,
  }: { readonly names: readonly SurfaceName[]; readonly own: readonly Mount[]; readonly root: RootSurface },
): Pick<Mount, 'routes' | 'dialect'> {
  const merged = own.filter((_mount, index) => SURFACES[names[index] ?? 'field'].isMerged);
  if (root === 'merged' && merged.length > 1) return { routes: mergeRoutes(parts), dialect: mergedDialect };
  const only = root === 'merged' ? (merged[0] ?? own[0]) : own.find(({ base }) => base === `/${root}`);
  if (only === undefined) throw new RangeError('the surface at the root must be exposed');
  return only;
}

/** Lists the exposed surfaces with the functions that create their OpenAPI documents. */
export function listDescriptions(
  deployment: Deployment & { readonly surfaces: readonly SurfaceName[] },
): readonly { readonly name: SurfaceName; describe(): Promise<Document> }[] {
  const names = [...new Set(deployment.surfaces)];
  const surfaces = names.filter((name) => SURFACES[name].isMerged);
  const describe = async (name: SurfaceName): Promise<Document> => {
    const { isMerged, describe: describeOne } = SURFACES[name];
    const document = await describeOne({ ...deployment, surfaces });
    if (!isMerged || deployment.root !== 'field') return document;
    return { ...document, servers: document.servers.filter(({ url }) => url !== '/') };
  };
  return names.map((name) => ({ name, describe: () => describe(name) }));
}

async function describeCurrent(deployment: Deployment): Promise<Document> {
  return (await import('./current/openapi/document.js')).describeCurrent(deployment);
}

async function describeField(deployment: Deployment): Promise<Document> {
  const current = await describeCurrent(deployment);
  return (await import('./field/openapi/document.js')).describeField(deployment, current);
}

async function describeLegacy(deployment: Deployment): Promise<Document> {
  return (await import('./legacy/openapi/document.js')).describeLegacy(deployment);
}

/**
 * Creates the router for all exposed surfaces and pages.
 * @param options `surfaces`: at least one; `root`: who serves `/api`; `pages`: routes beside the surfaces; `observer`: is
 * notified of the routes and of streams
 * @returns the router, its streams, and the error format and rate limit for requests without a known route
 */
export function createRouter(options: {
  readonly core: Core;
  readonly surfaces: readonly SurfaceName[];
  readonly root?: RootSurface;
  readonly http: HttpSettings;
  readonly pages?: readonly RootPages[];
  readonly observer?: RequestObserver | undefined;
  /** Absent: responses carry no deprecation headers. */
  readonly legacy?: LegacySettings;
  /** Absent: the defaults of the field surface. */
  readonly field?: Partial<Omit<FieldSettings, 'addressOf'>>;
}): {
  readonly router: RequestHandler;
  readonly streams: Streams;
  readonly dialect: Dialect;
  readonly rateLimit: RateLimit;
} {
  const { core, http } = options;
  const streams = createStreams(http, options.observer);
  const names = [...new Set(options.surfaces)];
  const about = { version: http.version, surfaces: names };
  const { keyHeaders = [], idleStreamMs = IDLE_STREAM_MS } = options.field ?? {};
  const addressOf = (req: Request): string => clientAddress(req, http.trustProxy);
  const field: FieldSettings = { keyHeaders, idleStreamMs, addressOf };
  const mounts = listMounts({ core, streams, about, field }, names, options.root);
  const table = new RouteTable();
  const rateLimit = limitRate(http);
  const limited = rateLimit.handlers;
  const successor = names.includes('current') ? '/current/api' : null;
  const notice = options.legacy && createNotice(options.legacy, successor);
  const known = [CURRENT_KEY_HEADER, LEGACY_KEY_HEADER];
  const readKeys = {
    current: keyReader([CURRENT_KEY_HEADER]),
    legacy: keyReader([LEGACY_KEY_HEADER]),
    field: keyReader([...known, ...keyHeaders]),
  };
  /** What a dialect needs before its routes: the handlers of every request, and the headers that carry keys. */
  const needsOf = (dialect: Dialect) => {
    if (dialect === fieldDialect)
      return { ahead: [allowFieldHeaders(keyHeaders)], keys: [...known, ...keyHeaders] };
    return { ahead: dialect === legacyDialect ? noticeAll(notice) : [], keys: known };
  };
  for (const { base, routes, dialect } of mounts) {
    const { ahead, keys } = needsOf(dialect);
    const counted = countRoutes(routes, { core, notice, readKeys });
    const before = [...limited, ...(core.countsRequests ? [admit(core, keys)] : [])];
    // The root serves several dialects and pages, which carry no notice.
    if (base === '') {
      const noticed = noticeDialect(notice, legacyDialect.name);
      const first = dialect === legacyDialect ? [] : ahead;
      table.mount({ base, routes: counted, dialect, ahead: first, before: [...noticed, ...before] });
    } else table.mount({ base, routes: counted, dialect, ahead, before });
  }
  const beside: Dialect = { ...mounts[0].dialect, name: 'page' };
  const pages = options.pages?.flatMap((page) => page(beside)) ?? [];
  table.mount({ base: '', routes: pages, dialect: beside, before: limited });
  options.observer?.routed(table.known);
  return { router: table.handle, streams, dialect: mounts[0].dialect, rateLimit };
}
