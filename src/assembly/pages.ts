import { fileURLToPath } from 'node:url';
import type { Config } from '../config.js';
import { metricsRoute, type MetricsPage } from '../http/metrics-page.js';
import { findPages, pageRoutes } from '../http/static-files.js';
import type { RootPages } from '../surfaces/index.js';

/** The built pages. They lie beside the program, whether it runs from `dist` or from `src`. */
const FOLDER = fileURLToPath(new URL('../../dist/web', import.meta.url));

/** Everything that is served beside the surfaces: pages for people, and the metrics. */
export function createPages(
  { page, adminToken }: Pick<Config, 'page' | 'adminToken'>,
  { metrics, admin }: { readonly metrics: MetricsPage | null; readonly admin: RootPages | null },
): {
  readonly routes: readonly RootPages[];
  /** Whether there is a page at `/`. */
  readonly hasPage: boolean;
} {
  const built = findPages(FOLDER, {
    ...(page === 'on' && { '/': 'index.html' }),
    ...(adminToken !== null && { '/admin': 'admin.html' }),
  });
  return {
    routes: [
      (dialect) => (metrics === null ? [] : [metricsRoute(metrics, dialect)]),
      ...(admin === null ? [] : [admin]),
      (dialect) => pageRoutes(FOLDER, built, dialect),
    ],
    hasPage: Object.hasOwn(built, '/'),
  };
}
