/** True when an `If-None-Match` header, a list or `*`, matches the tag by weak comparison (RFC 9110 §13.1.2). */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  // Fast path: nearly every client sends one tag.
  if (header === tag) return true;
  if (header.trim() === '*') return true;
  const opaque = tag.replace(/^W\//, '');
  const listed: readonly string[] = header.match(/"[^"]*"/g) ?? [];
  return listed.includes(opaque);
}
