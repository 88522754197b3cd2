/** The authority of a request target in absolute form (RFC 9112 §3.2.2). */
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i;

/** Returns the authority of a request target, as the client sent it; undefined when the target names none. */
export function authorityOf(target: string): string | undefined {
  return ORIGIN.exec(target)?.[1];
}

/**
 * Returns the path of a request target, without its query. Never throws, unlike the parser that Express uses: what a
 * client sends as a host or as user information need not be a URL. A target without a path has the path `/`.
 */
export function pathOf(target: string): string {
  const from = target.startsWith('/') ? 0 : (ORIGIN.exec(target)?.[0].length ?? 0);
  const end = target.slice(from).search(/[?#]/);
  const path = end === -1 ? target.slice(from) : target.slice(from, from + end);
  return path === '' ? '/' : path;
}
