import { fileURLToPath } from 'node:url';
import type { Config } from '../config.js';
import { metricsRoute, type MetricsPage } from '../http/pages/metrics-page.js';
import { pageRoutes } from '../http/pages/pages.js';
import { fileRoutes, findFiles } from '../http/pages/static-files.js';
import type { Described } from '../pages/openapi.js';
import { referencePages } from '../pages/reference.js';
import type { RootPages } from '../surfaces/index.js';

/** The folder of the built pages. The path is correct from both `dist` and `src`. */
const FOLDER = fileURLToPath(new URL('../../dist/web', import.meta.url));

/** Creates the routes beside the surfaces: pages, API reference and metrics. */
export function createPages(
  { page, adminToken }: Pick<Config, 'page' | 'adminToken'>,
  parts: {
    readonly metrics: MetricsPage | null;
    readonly admin: RootPages | null;
    /** The APIs that the reference documents. */
    readonly described: readonly Described[];
  },
): {
  readonly routes: readonly RootPages[];
  /** Whether there is a page at `/`. */
  readonly hasPage: boolean;
} {
  const { metrics, admin, described } = parts;
  const reference = referencePages(described);
  const built = findFiles(FOLDER, {
    ...(page && { '/': 'index.html' }),
    ...(adminToken !== null && { '/admin': 'admin.html' }),
  });
  return {
    routes: [
      (dialect) => (metrics === null ? [] : [metricsRoute(metrics, dialect)]),
      ...(admin === null ? [] : [admin]),
      (dialect) => pageRoutes(reference, dialect),
      (dialect) => fileRoutes(FOLDER, built, dialect),
    ],
    hasPage: Object.hasOwn(built, '/'),
  };
}
