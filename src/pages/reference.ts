import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { RequestHandler } from 'express';
import {
  allowOwnResources,
  constant,
  encoded,
  sendEncoded,
  type Encoded,
  type Page,
} from '../http/pages/pages.js';
import { comparison, COMPARISON_CSS } from './comparison.js';
import { openapiPages, type Described } from './openapi.js';
import { tryScript } from './try-script.js';

/** The files of swagger-ui-dist that the page loads, and their content types. */
const ASSETS = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui-standalone-preset.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
} as const;

/** Creates the API reference at `/docs`, with a choice of APIs, and the pages of their OpenAPI documents. */
export function referencePages(apis: readonly Described[]): readonly Page[] {
  return [
    ...openapiPages(apis),
    {
      path: '/docs',
      handlers: [allowOwnResources, constant(encoded('text/html; charset=utf-8', html(apis)))],
    },
    ...comparisonPages(apis),
    {
      path: '/docs/start.js',
      handlers: [constant(encoded('text/javascript; charset=utf-8', tryScript(apis)))],
    },
    ...Object.entries(ASSETS).map(([name, type]) => ({
      path: `/docs/${name}`,
      handlers: [asset(name, type)],
    })),
  ];
}

/** Serves a file of swagger-ui-dist, read on the first request. */
function asset(name: string, type: string): RequestHandler {
  let answer: Promise<Encoded> | undefined;
  return async (req, res) => {
    answer ??= readFile(createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`)).then((bytes) =>
      encoded(type, bytes),
    );
    sendEncoded(req, res, await answer);
  };
}

/** Creates the page that compares the surfaces, if both are exposed. */
function comparisonPages(apis: readonly Described[]): readonly Page[] {
  const [current, legacy] = ['current', 'legacy'].map((name) => apis.find((api) => api.name === name));
  if (current === undefined || legacy === undefined) return [];
  let page: Promise<Encoded> | undefined;
  return [
    {
      path: '/docs/compare',
      handlers: [
        allowOwnResources,
        async (req, res) => {
          page ??= comparison(current, legacy).then((text) => encoded('text/html; charset=utf-8', text));
          sendEncoded(req, res, await page);
        },
      ],
    },
    {
      path: '/docs/compare.css',
      handlers: [constant(encoded('text/css; charset=utf-8', COMPARISON_CSS))],
    },
  ];
}

function html(apis: readonly Described[]): string {
  const hasBoth = ['current', 'legacy'].every((name) => apis.some((api) => api.name === name));
  const link = hasBoth
    ? '<p class="information-container wrapper"><a href="/docs/compare">Both surfaces side by side</a></p>'
    : '';
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Diptych: API reference</title>
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <script src="/docs/swagger-ui-bundle.js" defer></script>
    <script src="/docs/swagger-ui-standalone-preset.js" defer></script>
    <script src="/docs/start.js" defer></script>
  </head>
  <body>
    ${link}
    <div id="reference"></div>
    <noscript>The reference needs JavaScript. The OpenAPI documents are under /openapi/.</noscript>
  </body>
</html>
`;
}
