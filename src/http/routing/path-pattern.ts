/** The parameters of a path, decoded. */
export type PathParams = Record<string, string>;

/**
 * A path with parameters in Express's notation (`/api/sessions/:id`). Matches as Express does: ignores case and a
 * trailing slash; each parameter is one non-empty segment.
 */
export class PathPattern {
  readonly #parts: readonly string[];

  constructor(readonly text: string) {
    this.#parts = segmentsOf(text).map((part) => (part.startsWith(':') ? part : part.toLowerCase()));
  }

  /** True when the pattern has no parameters. */
  get isLiteral(): boolean {
    return !this.#parts.some((part) => part.startsWith(':'));
  }

  /**
   * True when the pattern matches a path, or every path of another pattern.
   * @param segments from `segmentsOf`
   */
  matches(segments: readonly string[]): boolean {
    const parts = this.#parts;
    if (segments.length !== parts.length) return false;
    return parts.every((part, n) => {
      const segment = segments[n] ?? '';
      return part.startsWith(':') ? segment !== '' : segment.toLowerCase() === part;
    });
  }

  /**
   * Returns the parameters of a matching path.
   * @throws URIError when a parameter is not percent-encoded UTF-8 (RFC 3986 §2.1)
   */
  paramsOf(segments: readonly string[]): PathParams {
    const params: PathParams = {};
    for (const [n, part] of this.#parts.entries())
      if (part.startsWith(':')) params[part.slice(1)] = decodeURIComponent(segments[n] ?? '');
    return params;
  }
}

/** Splits a path into segments, ignoring one trailing slash. */
export function segmentsOf(path: string): readonly string[] {
  return path.replace(/\/$/, '').split('/');
}
