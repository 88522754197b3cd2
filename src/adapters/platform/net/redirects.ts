import type { Dispatcher } from 'undici';
import { GuardError } from './guard-error.js';

/** One request on the way to an answer. */
export interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: Uint8Array | null;
}

/** What another origin may see; any other header may hold a key. */
const HARMLESS = new Set(['accept', 'accept-language', 'content-language', 'content-type', 'user-agent']);
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * The request that an answer redirects to, as the Fetch standard has it (§4.4); undefined when it is no redirect.
 * @throws GuardError when it leads to no URL
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
