import { isIPv4, isIPv6, type Socket } from 'node:net';
import type { Request } from 'express';
import type { HttpSettings } from '../settings.js';

/**
 * Returns the client that rate and stream limits count a request for: see `clientOf` and `forwardedClient`.
 * @param trustProxy Express's `trust proxy` setting
 */
export function clientAddress(req: Request, trustProxy: HttpSettings['trustProxy']): string {
  // Without a trusted proxy, `req.ip` is the same address, but Express reads the forwarding headers first.
  return trustProxy === false ? peerClient(req.socket) : forwardedClient(req.ip ?? '');
}

/** Returns the client that limits count for the peer of a connection: see `clientOf`. */
export function peerClient({ remoteAddress }: Pick<Socket, 'remoteAddress'>): string {
  return clientOf(remoteAddress ?? UNKNOWN);
}

const UNKNOWN = 'unknown';

/** An address with a port, which some proxies add: `1.2.3.4:80`, `[2001:db8::1]:80`, or without it `[2001:db8::1]`. */
const WITH_PORT = /^([\d.]+):\d{1,5}$|^\[([^[\]]+)\](?::\d{1,5})?$/;

/**
 * Maps what a proxy forwards as an address to the client that limits count: as `clientOf`, without a port. Text that is
 * not an address maps to `unknown`. The result is a new string, because a part of a long header would keep all of it.
 */
export function forwardedClient(text: string): string {
  const [, v4, v6] = WITH_PORT.exec(text) ?? [];
  const address = v4 ?? v6 ?? text;
  if (isIPv4(address)) return address.split('.').join('.');
  return isIPv6(address) ? clientOf(address) : UNKNOWN;
}

/**
 * Maps an address to the client that limits count. An IPv4 address, also when written as IPv6, maps to itself; an IPv6
 * address maps to its /56, the usual allocation of one customer.
 */
export function clientOf(address: string): string {
  if (!address.includes(':')) return address;
  const groups = groupsOf(address);
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups;
  const isInIPv4 = a === 0 && b === 0 && c === 0 && d === 0 && e === 0;
  // The second condition matches the deprecated IPv4-compatible notation, which differs from `::1` by its dots.
  if (isInIPv4 && (f === 0xffff || (f === 0 && address.includes('.')))) {
    return [g >> 8, g & 0xff, h >> 8, h & 0xff].join('.');
  }
  return `${[a, b, c, d & 0xff00].map((group) => group.toString(16)).join(':')}::/56`;
}

/** Returns the eight groups of an IPv6 address, without its zone. */
function groupsOf(address: string): readonly number[] {
  const [bare = ''] = address.split('%', 1);
  const [head = '', tail] = bare.split('::');
  const first = numbersOf(head);
  if (tail === undefined) return first;
  const last = numbersOf(tail);
  const zeros = Array.from({ length: Math.max(8 - first.length - last.length, 0) }, () => 0);
  return [...first, ...zeros, ...last];
}

/** Parses the groups between colons. The last may be an IPv4 address, which counts as two groups. */
function numbersOf(text: string): readonly number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [(a << 8) | b, (c << 8) | d];
  });
}
