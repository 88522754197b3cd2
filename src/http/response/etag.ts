/** True when an `If-None-Match` header names the tag, compared weakly (RFC 9110 §13.1.2): a list, or `*`. */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  // What nearly every client sends back.
  if (header === tag) return true;
  if (header.trim() === '*') return true;
  const opaque = tag.replace(/^W\//, '');
  const listed: readonly string[] = header.match(/"[^"]*"/g) ?? [];
  return listed.includes(opaque);
}
