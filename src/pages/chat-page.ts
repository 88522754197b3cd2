import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import { constant, encoded, type Page } from '../http/pages/pages.js';
import { IMMUTABLE, PAGE_POLICY } from '../http/pages/static-files.js';

/** An image, recognized by its content. */
export interface Logo {
  readonly type: string;
  /** The extension of its path. */
  readonly extension: string;
  readonly body: Buffer;
}

/** What the operator has configured for the chat page. */
export interface ChatPageSetup {
  readonly title: string | null;
  readonly colors: object;
  /** Prompts of the default App; null: the page's own. */
  readonly prompts: readonly string[] | null;
}

/** Content security policy of a logo: an SVG that is opened as a document of its own may not run scripts. */
const IMAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/**
 * Creates the pages of the chat page that depend on the configuration: its HTML, `/page.json`, and the logo under a path
 * that contains its digest.
 * @param html the built page
 */
export function chatPages(html: string, setup: ChatPageSetup, logo: Logo | null): readonly Page[] {
  const logoPath = logo === null ? null : pathOf(logo);
  const { title, colors, prompts } = setup;
  const json = JSON.stringify({ title, logo: logoPath, colors, prompts });
  const shown = encoded('text/html; charset=utf-8', branded(html, title, logoPath));
  return [
    { path: '/', handlers: [withPolicy(PAGE_POLICY), constant(shown)] },
    { path: '/page.json', handlers: [constant(encoded('application/json; charset=utf-8', json))] },
    ...(logo === null || logoPath === null
      ? []
      : [
          {
            path: `/${logoPath}`,
            handlers: [withPolicy(IMAGE_POLICY), constant(encoded(logo.type, logo.body), IMMUTABLE)],
          },
        ]),
  ];
}

function pathOf({ body, extension }: Logo): string {
  return `assets/logo-${createHash('sha256').update(body).digest('hex').slice(0, 16)}.${extension}`;
}

/** Puts title and logo into the HTML, so that they are there before any script has run. */
function branded(html: string, title: string | null, logoPath: string | null): string {
  const titled =
    title === null ? html : html.replace(/<title>[^<]*<\/title>/, () => `<title>${escaped(title)}</title>`);
  return logoPath === null
    ? titled
    : titled.replace(/<link rel="icon"[^>]*>/, () => `<link rel="icon" href="./${logoPath}" />`);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function withPolicy(policy: string): RequestHandler {
  return (_req, res, next) => {
    res.setHeader('Content-Security-Policy', policy);
    next();
  };
}
