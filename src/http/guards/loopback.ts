import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { authorityOf } from '../request/target.js';

/** True when a host name, as in a URL or in `HOST`, always means this machine: `localhost`, `127.0.0.0/8` or `::1`. */
export function isLoopbackName(name: string): boolean {
  const bare = name.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  if (bare === 'localhost' || bare === 'localhost.' || bare === '::1') return true;
  // IPv4-mapped IPv6 addresses (RFC 4291 §2.5.5.2), in both notations.
  if (/^::ffff:7f[\da-f]{2}:/.test(bare)) return true;
  const address = bare.replace(/^::ffff:/, '');
  return isIP(address) === 4 && address.startsWith('127.');
}

const USUAL_AUTHORITY = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;

/** True when the authority of a request (RFC 9110 §7.2), a host with an optional port, names this machine. */
export function isLoopbackAuthority(authority: string): boolean {
  if (USUAL_AUTHORITY.test(authority)) return true;
  // Rejects user information and paths, which would parse as a URL, too.
  if (!/^[\w.:[\]-]+$/.test(authority) || !URL.canParse(`http://${authority}`)) return false;
  return isLoopbackName(new URL(`http://${authority}`).hostname);
}

/** True when an `Origin` (RFC 6454) is a page that this machine serves, on any port. */
export function isLoopbackOrigin(origin: string): boolean {
  const [, authority] = /^https?:\/\/([^/]+)$/i.exec(origin) ?? [];
  return authority !== undefined && isLoopbackAuthority(authority);
}

/**
 * True when both the `Host` and the authority of an absolute request target (RFC 9112 §3.2.2), if any, are loopback
 * names. An HTTP/1.0 request may lack `Host`; no browser sends one.
 */
export function isAddressedToLoopback({ headers, httpVersion, url = '' }: IncomingMessage): boolean {
  const authority = authorityOf(url);
  if (authority !== undefined && !isLoopbackAuthority(authority)) return false;
  if (headers.host === undefined) return httpVersion === '1.0';
  return isLoopbackAuthority(headers.host);
}
