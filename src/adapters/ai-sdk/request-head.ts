/**
 * The head of a request to a provider, as a list. From an object Node makes a table with an entry for each header, which lives as long as the request; a list becomes
 * the text of the head at once. Counted: thirteen of the 300 objects that a stream holds while its turn runs. What Node adds
 * to an object alone is added here: the host, credentials of the URL, the length of the body.
 */
import type http from 'node:http';
import { urlToHttpOptions } from 'node:url';

/** Where requests go. */
export interface Target {
  readonly options: http.RequestOptions;
  /** As `Host` names it (RFC 9112 §3.2). */
  readonly host: string;
}

/** What a head is made of. */
export interface RequestHead {
  readonly target: Target;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** What of a URL Node is to know. */
export function targetOf(url: URL): Target {
  return { options: urlToHttpOptions(url), host: url.host };
}

/** Names and values in turn. The host and the length are always ours. */
export function headOf({ target, method, headers, body }: RequestHead): string[] {
  const list = ['Host', target.host];
  let isAuthorized = false;
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (lower === 'host' || lower === 'content-length') continue;
    isAuthorized ||= lower === 'authorization';
    list.push(name, value);
  }
  const { auth } = target.options;
  if (!isAuthorized && typeof auth === 'string')
    list.push('Authorization', `Basic ${Buffer.from(auth).toString('base64')}`);
  // Without it a body would come in chunks, and so would none (RFC 9110 §8.6).
  if (body !== undefined) list.push('Content-Length', String(Buffer.byteLength(body)));
  else if (method !== 'GET' && method !== 'HEAD') list.push('Content-Length', '0');
  return list;
}
