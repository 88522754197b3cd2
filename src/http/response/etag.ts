import { listHeader } from '../request/list-header.js';

/**
 * True when an `If-None-Match` header, a list or `*`, matches the tag by weak comparison (RFC 9110 §13.1.2). Ignores a
 * header that is longer than 8 KiB.
 */
export function matchesTag(header: string | undefined, tag: string): boolean {
  // Fast path: nearly every client sends one tag.
  if (header === tag) return true;
  const list = listHeader(header);
  if (list === undefined) return false;
  if (list.trim() === '*') return true;
  const opaque = tag.replace(/^W\//, '');
  const listed: readonly string[] = list.match(/"[^"]*"/g) ?? [];
  return listed.includes(opaque);
}
