import { isIPv6 } from 'node:net';
import type { Request } from 'express';
import type { HttpSettings } from '../settings.js';

/**
 * Who is counted for a request, as `clientOf` has it. @param trustProxy who may say for whom it asks, as Express has it
 */
export function clientAddress(req: Request, trustProxy: HttpSettings['trustProxy']): string {
  // Without a proxy to trust, Express would find the same address after a look at every header that could say another.
  return clientOf((trustProxy === false ? req.socket.remoteAddress : req.ip) ?? '');
}

/**
 * Who is counted under an address: an IPv4 address, also one that is written as IPv6, stands for itself, and an IPv6
 * address for its /56, which is what one customer of a provider is given. What is no address stands for itself, too.
 */
export function clientOf(address: string): string {
  if (!address.includes(':')) return address;
  if (!isIPv6(address)) return address;
  const groups = groupsOf(address);
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups;
  const isInIPv4 = a === 0 && b === 0 && c === 0 && d === 0 && e === 0;
  // The second is the deprecated way, known by its dots: `::1` is no IPv4 address.
  if (isInIPv4 && (f === 0xffff || (f === 0 && address.includes('.')))) {
    return [g >> 8, g & 0xff, h >> 8, h & 0xff].join('.');
  }
  return `${[a, b, c, d & 0xff00].map((group) => group.toString(16)).join(':')}::/56`;
}

/** The eight groups of an IPv6 address, without its zone. */
function groupsOf(address: string): readonly number[] {
  const [bare = ''] = address.split('%', 1);
  const [head = '', tail] = bare.split('::');
  const first = numbersOf(head);
  if (tail === undefined) return first;
  const last = numbersOf(tail);
  const zeros = Array.from({ length: Math.max(8 - first.length - last.length, 0) }, () => 0);
  return [...first, ...zeros, ...last];
}

/** Groups between colons; the last may be an IPv4 address, which is two. */
function numbersOf(text: string): readonly number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [(a << 8) | b, (c << 8) | d];
  });
}
