import type { Dispatcher } from 'undici';
import { GuardError } from './guard-error.js';

/** One request of a chain of redirects. */
export interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: Uint8Array | null;
}

/** The headers that are kept when a redirect leaves the origin; any other header may hold a key. */
const HARMLESS = new Set(['accept', 'accept-language', 'content-language', 'content-type', 'user-agent']);
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * Builds the request that a response redirects to, by the rules of the Fetch standard ("HTTP-redirect fetch").
 * @returns undefined when the response is not a redirect
 * @throws GuardError when the target is not a URL
 */
export function followed(hop: Hop, answer: Dispatcher.ResponseData): Hop | undefined {
  const { location } = answer.headers;
  if (!REDIRECTS.has(answer.statusCode) || typeof location !== 'string') return undefined;
  if (!URL.canParse(location, hop.url.href)) {
    throw new GuardError(`The host ${hop.url.hostname} redirects to something that is not a URL.`);
  }
  const url = new URL(location, hop.url);
  const leaves = url.origin !== hop.url.origin;
  const losesBody =
    (answer.statusCode === 303 && hop.method !== 'HEAD') ||
    ([301, 302].includes(answer.statusCode) && hop.method === 'POST');
  const headers = new Headers();
  for (const [name, value] of hop.headers) {
    if (leaves && !HARMLESS.has(name)) continue;
    if (losesBody && name.startsWith('content-')) continue;
    headers.append(name, value);
  }
  return losesBody ? { url, method: 'GET', headers, body: null } : { ...hop, url, headers };
}
