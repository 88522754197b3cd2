import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from '../config.js';
import { isPublished, metricsRoute, type MetricsPage } from '../http/pages/metrics-page.js';
import { pageRoutes, type Page } from '../http/pages/pages.js';
import { fileRoutes, findFiles } from '../http/pages/static-files.js';
import { DEFAULT_APP } from '../core/model/app.js';
import { chatPages } from '../pages/chat-page.js';
import type { Described } from '../pages/openapi.js';
import { referencePages } from '../pages/reference.js';
import type { RootPages } from '../surfaces/index.js';
import { readLogo } from './logo.js';

/** The folder of the built pages. The path is correct from both `dist` and `src`. */
const FOLDER = fileURLToPath(new URL('../../dist/web', import.meta.url));

/**
 * Creates the routes beside the surfaces: pages, API reference and metrics.
 * @throws ConfigError if the configured logo is not usable
 */
export async function createPages(
  config: Pick<
    Config,
    'page' | 'adminToken' | 'pageSettings' | 'apps' | 'file' | 'corsOrigins' | 'trustProxy'
  >,
  parts: {
    readonly metrics: MetricsPage | null;
    readonly admin: RootPages | null;
    /** The APIs that the reference documents. */
    readonly described: readonly Described[];
  },
): Promise<{
  readonly routes: readonly RootPages[];
  /** Whether there is a page at `/`. */
  readonly hasPage: boolean;
}> {
  const { metrics, admin, described } = parts;
  const { page, adminToken } = config;
  const reference = referencePages(described);
  const built = findFiles(FOLDER, {
    ...(page && { '/': 'index.html' }),
    ...(adminToken !== null && { '/admin': 'admin.html' }),
  });
  const { '/': chatFile, ...others } = built;
  const chat = page && chatFile !== undefined ? await createChatPages(config, join(FOLDER, chatFile)) : [];
  return {
    routes: [
      (dialect) => (metrics === null ? [] : [metricsRoute(metrics, isPublished(config), dialect)]),
      ...(admin === null ? [] : [admin]),
      (dialect) => pageRoutes(reference, dialect),
      (dialect) => pageRoutes(chat, dialect),
      (dialect) => fileRoutes(FOLDER, others, dialect, chat.length > 0),
    ],
    hasPage: chat.length > 0,
  };
}

async function createChatPages(
  config: Pick<Config, 'pageSettings' | 'apps' | 'file'>,
  htmlFile: string,
): Promise<readonly Page[]> {
  const { title, colors, prompts } = config.pageSettings;
  const own = config.apps.find(({ name }) => name === DEFAULT_APP)?.prompts ?? null;
  const [html, logo] = await Promise.all([readFile(htmlFile, 'utf8'), readLogo(config)]);
  return chatPages(html, { title, colors, prompts: own ?? prompts }, logo);
}
