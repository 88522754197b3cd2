/** The parameters of a path, decoded. */
export type PathParams = Record<string, string>;

/**
 * A path with parameters in Express's notation (`/api/sessions/:id`). Matches as Express does: in any case, with or
 * without a slash at the end, each parameter as one segment that is not empty.
 */
export class PathPattern {
  readonly #parts: readonly string[];

  constructor(readonly text: string) {
    this.#parts = segmentsOf(text).map((part) => (part.startsWith(':') ? part : part.toLowerCase()));
  }

  /** True when it has no parameters: only paths that are equal but for their case match. */
  get isLiteral(): boolean {
    return !this.#parts.some((part) => part.startsWith(':'));
  }

  /** Whether it matches a path, or every path of another pattern. @param segments from `segmentsOf` */
  matches(segments: readonly string[]): boolean {
    const parts = this.#parts;
    if (segments.length !== parts.length) return false;
    return parts.every((part, n) => {
      const segment = segments[n] ?? '';
      return part.startsWith(':') ? segment !== '' : segment.toLowerCase() === part;
    });
  }

  /**
   * The parameters of a path that it matches.
   * @throws URIError when a parameter is not UTF-8 in percent-encoding (RFC 3986 §2.1)
   */
  paramsOf(segments: readonly string[]): PathParams {
    const params: PathParams = {};
    for (const [n, part] of this.#parts.entries())
      if (part.startsWith(':')) params[part.slice(1)] = decodeURIComponent(segments[n] ?? '');
    return params;
  }
}

/** The segments of a path; one slash at the end counts for nothing. */
export function segmentsOf(path: string): readonly string[] {
  return path.replace(/\/$/, '').split('/');
}
