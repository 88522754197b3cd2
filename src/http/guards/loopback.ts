import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/** Whether a host name, as a URL or `HOST` has it, always means this machine: `localhost`, `127.0.0.0/8` or `::1`. */
export function isLoopbackName(name: string): boolean {
  const bare = name.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  if (bare === 'localhost' || bare === 'localhost.' || bare === '::1') return true;
  // IPv4 addresses in IPv6 (RFC 4291 §2.5.5.2), in both notations.
  if (/^::ffff:7f[\da-f]{2}:/.test(bare)) return true;
  const address = bare.replace(/^::ffff:/, '');
  return isIP(address) === 4 && address.startsWith('127.');
}

const USUAL_AUTHORITY = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;

/** Whether the authority of a request (RFC 9110 §7.2), a host with or without a port, names this machine. */
export function isLoopbackAuthority(authority: string): boolean {
  if (USUAL_AUTHORITY.test(authority)) return true;
  // A URL with user information or a path would parse, too.
  if (!/^[\w.:[\]-]+$/.test(authority) || !URL.canParse(`http://${authority}`)) return false;
  return isLoopbackName(new URL(`http://${authority}`).hostname);
}

/** Whether an `Origin` (RFC 6454) is a page that this machine serves, on any port. */
export function isLoopbackOrigin(origin: string): boolean {
  const [, authority] = /^https?:\/\/([^/]+)$/i.exec(origin) ?? [];
  return authority !== undefined && isLoopbackAuthority(authority);
}

/**
 * Whether every name by which a request addresses the service is a loopback name: its `Host`, and the authority of an
 * absolute request target (RFC 9112 §3.2.2). A request of HTTP/1.0 may have no `Host`; no browser sends such a request.
 */
export function isAddressedToLoopback({ headers, httpVersion, url = '' }: IncomingMessage): boolean {
  const [, target] = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i.exec(url) ?? [];
  if (target !== undefined && !isLoopbackAuthority(target)) return false;
  if (headers.host === undefined) return httpVersion === '1.0';
  return isLoopbackAuthority(headers.host);
}
