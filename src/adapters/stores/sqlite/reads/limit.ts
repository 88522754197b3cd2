/**
 * A `LIMIT` with a bound parameter. SQLite (since 3.47) uses the value of a bare parameter for planning and recompiles
 * the statement at every run; the cast prevents that.
 */
export const LIMIT = 'LIMIT CAST(? AS INTEGER)';

/** `LIMIT` with a named parameter. */
export function limitOf(name: string): string {
  return `LIMIT CAST(@${name} AS INTEGER)`;
}
