/**
 * The code of a system error, such as `ENOENT`; undefined for an error without one. Tests the shape, because an error of
 * another realm is not an instance of this realm's `Error`.
 */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
